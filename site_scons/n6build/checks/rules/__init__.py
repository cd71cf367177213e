"""The checks themselves: each is a function with its id, title and severity above it, in any module of this folder."""
