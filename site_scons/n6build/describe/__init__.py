"""Descriptions of chips, boards, models, options and formats.

In: YAML files under boards/ and models/, model files, compiled networks in folders, `option=value`.
Out: frozen dataclasses, and the C headers and linker scripts of chips, boards and formats.
Start with `choices` (each option), `model` (a model and its files), and `hardware.board`.
"""
