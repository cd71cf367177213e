"""Backend st_edge_ai: ST's own compiler, found, called in a room of its own, its log read, its output made reproducible."""
