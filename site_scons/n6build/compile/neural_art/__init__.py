"""Backend neural_art, which compiles a model to epochs of the NPU.

It is experimental: nothing that it makes has run on silicon.
"""
