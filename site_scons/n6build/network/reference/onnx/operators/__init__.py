"""Operators that only ONNX has, or that ONNX Runtime computes otherwise than LiteRT: one module for each."""
