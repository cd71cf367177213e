"""Stage 1: from a model file to network.c, memory images and their description.

In: a model file, or a network that was compiled elsewhere, and the memory pools of a board.
Out: network.c, images of the weights, c_info, and `artifacts.description` of all of them.
Start with `backend`, which defines a backend; each package with a module `backend` is one.
"""
