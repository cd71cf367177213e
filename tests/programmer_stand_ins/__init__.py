"""Fake programmers that answer as the documentation of the real ones says.

Their board is a folder with a NOR in it.
"""
