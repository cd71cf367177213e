"""Backend constant: the reference backend under another name, for whoever wants to see what a backend is made of."""
