"""Translations of the nodes of an ONNX graph, one module for each family."""
