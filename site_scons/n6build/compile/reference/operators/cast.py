"""CAST: the same numbers in another type, rounded towards zero.

A float32 number that the type cannot hold saturates.
"""

from __future__ import annotations

from n6build.compile.reference.descriptors import elements, kernel_with, of_type
from n6build.compile.reference.graph import ELEMENT_BYTES, DType
from n6build.compile.reference.kernel_call import KernelCall, element_arguments
from n6build.compile.reference.movement import MOVABLE, Array
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import Rule, check_elementwise

_KERNEL = kernel_with(
    "cast",
    *elements("void", "void"),
    *of_type("uint8_t", "in_bytes", "out_bytes", "in_kind", "out_kind"),
    doc="The same numbers as another type: in_kind, out_kind: 0 signed, 1 unsigned, 2 float, 3 bool. From float towards "
    "zero, saturated, 0 for what is no number; between integers modulo 2^n; to bool whether it is not 0.",
)
_KINDS: dict[DType, int] = {"uint8": 1, "float32": 2, "bool": 3}


def _lower(operands: Operands) -> KernelCall:
    given, made = operands.first.dtype, operands.output.dtype
    return KernelCall(
        _KERNEL,
        {
            **element_arguments(operands),
            "in_bytes": ELEMENT_BYTES[given],
            "out_bytes": ELEMENT_BYTES[made],
            "in_kind": _KINDS.get(given, 0),
            "out_kind": _KINDS.get(made, 0),
        },
    )


def _fold(operands: Operands) -> Array | None:
    data, made = operands.first.data, operands.output.dtype
    # Only integers are folded: the kernel alone converts float32.
    return None if data is None or operands.first.dtype == "float32" else data.astype(made)


OPERATORS = (
    OperatorKind(
        name="CAST",
        label="Cast",
        rule=Rule(
            inputs=(MOVABLE,), required=1, constants=(), output=MOVABLE, check=check_elementwise, quantised=False
        ),
        lower=_lower,
        kernels=(_KERNEL,),
        fold=_fold,
    ),
)
