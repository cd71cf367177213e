"""Adoption of third-party STM32N6 projects.

In: a project for CubeIDE, Make or CMake, as it is on the disk.
Out: a table of present and missing parts, and the lines that add n6build to its scripts.
Start with `project`, then `table` and `carry_out`.
"""
