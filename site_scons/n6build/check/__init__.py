"""Pre-flight checks: faults that fail on a board, found before one is touched.

In: the memory plan, networks, images and the description of a board.
Out: findings with id, place, amount and hint; an error stops the build before programming.
Start with `check` (the kinds), then `run`; each function in `rules` with @check is a check.
"""
