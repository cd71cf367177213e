"""Operators of ONNX that LiteRT lacks or computes otherwise, one module each."""
