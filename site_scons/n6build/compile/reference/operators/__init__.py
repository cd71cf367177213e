"""Operators of the reference backend, one module each.

A module holds everything about its operator except the C code of the kernel.
"""
