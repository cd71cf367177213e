"""Survey of a folder: finds things by their content, and reports one row for each.

In: a folder in any layout, and the wish to run the things that were found.
Out: rows for a table and for JSON; a damaged thing is a row, too.
Start with `kinds`, then `networks` and `survey`.
"""
