"""All operators that this backend compiles."""

from __future__ import annotations

from n6build.base.members import members
from n6build.network.reference.descriptors import Kernel
from n6build.network.reference.operator_kind import OperatorKind

# By the name in the schema of .tflite files.
TFLITE_KINDS: dict[str, OperatorKind] = {
    kind.name: kind for kind in members("n6build.network.reference.operators.*", "OPERATOR", OperatorKind)
}
# What only models of ONNX are made of.
ONNX_KINDS: dict[str, OperatorKind] = {
    kind.name: kind for kind in members("n6build.network.reference.onnx.operators.*", "OPERATOR", OperatorKind)
}
KINDS = TFLITE_KINDS | ONNX_KINDS


def all_kernels() -> tuple[Kernel, ...]:
    """Each once, in the order of the operators that call them."""
    return tuple(dict.fromkeys(kernel for kind in KINDS.values() for kernel in kind.kernels))
