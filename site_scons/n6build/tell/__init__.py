"""Reports about a build, and the origin of the bytes in its images.

In: the results of all stages.
Out: the report as page, text and JSON, sizes and their changes, provenance, bill of materials.
Start with `collect` and `content`; `matrix` has the same for all boards and models.
"""
