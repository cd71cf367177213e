"""PRelu: negative elements times a slope for each channel, in float32."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.descriptors import ROWS, Member, kernel_with, reads
from n6build.compile.reference.kernel_call import KernelCall, Parameter, row_arguments
from n6build.compile.reference.onnx.limits import REAL_MEMBERS, real_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, INT8, Problem, Rule, check_elements, check_elementwise

_SLOPES = 1

_KERNEL = kernel_with(
    "real_prelu",
    *ROWS,
    Member("slopes", reads("float")),
    *REAL_MEMBERS,
    doc="Rows of depth elements: x, below 0 times the slope at its place in the row, divided by output_scale and rounded "
    "half to even.",
    in_place=("input",),
)


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_elementwise(operands)
    yield from check_elements(operands.required(_SLOPES), operands.first.shape[-1])


def _lower(operands: Operands) -> KernelCall:
    return KernelCall(
        _KERNEL,
        {
            **row_arguments(operands),
            "slopes": Parameter(operands.required(_SLOPES), "slopes"),
            **real_arguments(operands),
        },
    )


OPERATORS = (
    OperatorKind(
        name="PRelu",
        label="PRelu",
        rule=Rule(inputs=(INT8, FLOAT32), required=2, constants=(_SLOPES,), output=INT8, check=_check),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
