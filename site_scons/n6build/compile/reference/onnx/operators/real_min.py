"""Min: the smaller elements of two tensors in float32.

ONNX Runtime has no integer operator for it.
"""

from __future__ import annotations

from n6build.compile.reference.onnx.real_binary import real_operator

OPERATOR = real_operator("Min")
