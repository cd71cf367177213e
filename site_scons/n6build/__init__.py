"""n6build: from a neural network's model file to a running STM32N6 board.

This package knows the domain and imports no SCons; `site_scons/site_tools` are thin SCons tools over it.
"""
