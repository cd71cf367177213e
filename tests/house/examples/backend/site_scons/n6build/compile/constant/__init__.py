"""Backend constant: the reference backend under another name, as an example."""
