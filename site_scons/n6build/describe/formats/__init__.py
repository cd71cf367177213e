"""Formats that C and Python share, described once.

Each module has one FORMAT, from which a C header is generated.
"""
