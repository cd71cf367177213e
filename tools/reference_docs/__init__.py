"""The pages of docs/ that are made from the code: what is in code, YAML or docstrings anyway is not written a second time.

`generated.pages` makes them; `mkdocs_hook` gives them to MkDocs (`make docs`).
"""
