"""Backend st_edge_ai: ST's compiler, run in its own folder.

The compiler is found, its log read, and its output made reproducible.
"""
