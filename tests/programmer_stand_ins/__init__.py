"""Fake programmers that answer as the real ones are documented to.

Their board is a folder with a NOR in it.
"""
