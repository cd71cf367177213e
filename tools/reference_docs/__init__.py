"""The pages of docs/ that are made from code, YAML and docstrings.

Their content is not written a second time. `generated.pages` makes them; `mkdocs_hook` gives them
to MkDocs (`make docs`).
"""
