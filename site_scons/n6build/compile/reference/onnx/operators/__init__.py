"""Operators of ONNX that LiteRT lacks or computes otherwise, one module for each family."""
