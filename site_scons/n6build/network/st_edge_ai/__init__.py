"""Backend st_edge_ai: ST's own compiler, found, run in its own folder, its log read, its output made reproducible."""
