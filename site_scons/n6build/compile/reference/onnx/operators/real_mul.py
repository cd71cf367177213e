"""Mul: the product of two tensors in float32.

It is used where ONNX Runtime has no integer operator for it.
"""

from __future__ import annotations

from n6build.compile.reference.onnx.real_binary import real_operator

OPERATOR = real_operator("Mul")
