"""Search for stale outputs: edits, each built incrementally and from nothing.

In: a project, a seed and a number of edits.
Out: outputs that an incremental build left stale. Start with `trial`, then `edits`.
"""
