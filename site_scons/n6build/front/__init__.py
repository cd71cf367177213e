"""Answers to calls with nothing to do, without SCons.

`keep` writes an answer after a build, and `ask` gives it to the next call.
"""
