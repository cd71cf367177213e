"""QLinearMul: the product of two tensors, in float32."""

from __future__ import annotations

from n6build.network.reference.onnx.binary import binary_operator

OPERATOR = binary_operator("Mul")
