"""Operators of ONNX that LiteRT lacks or computes otherwise, by family."""
