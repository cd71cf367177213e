"""Placement of a compiled network in the memory of a board.

In: networks (`compile.artifacts`), linked programs, and the description of the board.
Out: the memory plan and its C tables, images with boot headers, relocatable models, signatures.
Start with `memory_plan.build_plan`, `image.manifest` and `reloc.binary`.
"""
