"""Stage 0: an int8 ONNX model from a float one and samples of its inputs.

ONNX Runtime's own quantiser does the work, in a process of its own. This package prepares the float
model, feeds samples one after another, and checks the result.
"""
