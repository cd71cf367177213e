"""Modules that every stage uses, without knowledge of neural networks or chips."""
