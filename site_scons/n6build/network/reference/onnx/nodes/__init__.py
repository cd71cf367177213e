"""What nodes of an ONNX graph become, one module for each family of them."""
