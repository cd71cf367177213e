"""All operators that this backend compiles."""

from __future__ import annotations

from n6build.base.members import members
from n6build.compile.reference.descriptors import Kernel
from n6build.compile.reference.operator_kind import OperatorKind

# Operators by their names in the schema of .tflite files.
TFLITE_KINDS: dict[str, OperatorKind] = {
    kind.name: kind for kind in members("n6build.compile.reference.operators.*", "OPERATORS", OperatorKind)
}
# Operators that only ONNX models consist of.
ONNX_KINDS: dict[str, OperatorKind] = {
    kind.name: kind for kind in members("n6build.compile.reference.onnx.operators.*", "OPERATORS", OperatorKind)
}
KINDS = TFLITE_KINDS | ONNX_KINDS


def all_kernels() -> tuple[Kernel, ...]:
    """Return each kernel once, in the order of the operators that call them."""
    return tuple(dict.fromkeys(kernel for kind in KINDS.values() for kernel in kind.kernels))
