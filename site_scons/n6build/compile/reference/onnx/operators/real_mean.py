"""ReduceMean and ReduceSum over neighbouring dimensions, in float32.

Elements are added in the order of ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.onnx.real_ends import REAL_MEMBERS, ends, real_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import INT8, Problem, Rule, check_elements

_KERNEL = Kernel(
    "real_mean",
    Structure(
        "n6k_real_mean_t",
        (
            *ENDS,
            Member("rows", "uint32_t"),
            Member("count", "uint32_t"),
            Member("row_step", "uint32_t"),
            Member("step", "uint32_t"),
            Member("divisor", "float"),
            *REAL_MEMBERS,
            Member("in_vectors", "uint8_t", note="0 or 1"),
        ),
        doc="One element of the output for each row of count elements, which lie step apart, rows row_step: their sum in "
        "float32, divided by divisor and by output_scale, rounded half to even. in_vectors: the sum is that of vectors of four, "
        "which begin at multiples of four elements from the first row on, of two sums of such vectors in turns; otherwise of one "
        "element after another.",
    ),
)


@dataclass(frozen=True)
class MeanOptions:
    """Options of a ReduceMean or ReduceSum.

    Attributes:
        rows: Rows to sum up, one for each element of the output.
        count: Elements of a row.
        row_step: Elements from one row to the next.
        step: Elements from one element of a row to the next.
        divisor: Number by which a sum is divided.
        in_vectors: Whether vectors of four elements are added, as the descriptor describes.
        low: Lower limit of the output's real numbers.
        high: Upper limit of the output's real numbers.
    """

    rows: int
    count: int
    row_step: int
    step: int
    divisor: int
    in_vectors: bool
    low: float
    high: float


def _options(operands: Operands) -> MeanOptions:
    options = operands.operator.options
    assert isinstance(options, MeanOptions)
    return options


def _check(operands: Operands) -> Iterator[Problem]:
    options = _options(operands)
    yield from check_elements(operands.output, options.rows)
    yield from check_elements(operands.first, options.rows * options.count)


def _lower(operands: Operands) -> KernelCall:
    options = _options(operands)
    return KernelCall(
        _KERNEL,
        {
            **ends(operands),
            "rows": options.rows,
            "count": options.count,
            "row_step": options.row_step,
            "step": options.step,
            "divisor": float(options.divisor),
            **real_arguments(operands, options.low, options.high),
            "in_vectors": int(options.in_vectors),
        },
    )


OPERATOR = OperatorKind(
    name="ReduceMean",
    label="ReduceMean",
    rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
