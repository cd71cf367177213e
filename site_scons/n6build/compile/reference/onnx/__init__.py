"""ONNX models whose activations and weights are int8 or uint8.

They are in QDQ format, or have operators whose names begin with QLinear.
"""
