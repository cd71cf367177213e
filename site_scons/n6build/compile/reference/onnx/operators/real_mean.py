"""ReduceMean and ReduceSum over neighbouring dimensions, in float32.

Elements are added in the order of ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.descriptors import ENDS, Member, kernel_with, of_type
from n6build.compile.reference.kernel_call import KernelCall, ends
from n6build.compile.reference.onnx.limits import REAL_MEMBERS, LimitOptions, real_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import INT8, Problem, Rule, check_elements

_KERNEL = kernel_with(
    "real_mean",
    *ENDS,
    *of_type("uint32_t", "rows", "count", "row_step", "step"),
    Member("divisor", "float"),
    *REAL_MEMBERS,
    Member("in_vectors", "uint8_t", note="0 or 1"),
    doc="One element of the output for each row of count elements, which lie step apart, rows row_step: their sum in "
    "float32, divided by divisor and by output_scale, rounded half to even. in_vectors: the sum is that of vectors of four, "
    "which begin at multiples of four elements from the first row on, of two sums of such vectors in turns; otherwise of one "
    "element after another.",
)


@dataclass(frozen=True)
class MeanOptions(LimitOptions):
    """Options of a ReduceMean or ReduceSum.

    Attributes:
        rows: Rows to sum up, one for each element of the output.
        count: Elements of a row.
        row_step: Elements from one row to the next.
        step: Elements from one element of a row to the next.
        divisor: Number by which a sum is divided.
        in_vectors: Whether vectors of four elements are added, as the descriptor describes.
    """

    rows: int
    count: int
    row_step: int
    step: int
    divisor: int
    in_vectors: bool


def _check(operands: Operands) -> Iterator[Problem]:
    options = operands.options(MeanOptions)
    yield from check_elements(operands.output, options.rows)
    yield from check_elements(operands.first, options.rows * options.count)


def _lower(operands: Operands) -> KernelCall:
    options = operands.options(MeanOptions)
    return KernelCall(
        _KERNEL,
        {
            **ends(operands),
            "rows": options.rows,
            "count": options.count,
            "row_step": options.row_step,
            "step": options.step,
            "divisor": float(options.divisor),
            **real_arguments(operands),
            "in_vectors": int(options.in_vectors),
        },
    )


OPERATORS = (
    OperatorKind(
        name="ReduceMean",
        label="ReduceMean",
        rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
