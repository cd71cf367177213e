"""Adoption of third-party STM32N6 projects.

n6build reads the files of a project, lists present and missing parts, and adds lines to its scripts.
"""
