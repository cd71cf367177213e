"""Operators of the reference backend, one module for each family.

A module holds everything about its operators except the C code of the kernels. Operators that only
differ in a table are rows of `OPERATORS`. The page about operators is made from the docstrings: one
begins with the name of its only operator, or has an entry for each under `Operators:`.
"""
