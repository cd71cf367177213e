"""Models of ONNX whose activations and weights are int8 or uint8 (QDQ, or operators that begin with QLinear)."""
