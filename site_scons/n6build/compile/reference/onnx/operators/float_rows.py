"""Operators on rows of float32: reductions, softmax, and the largest elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.descriptors import Member, enumeration, kernel_with, of_type, reads, writes
from n6build.compile.reference.kernel_call import KernelCall, ends, row_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, INT64, Problem, Rule, check_elements, check_elementwise

_ENDS = (Member("input", reads("float")), Member("output", writes("float")))
# The reductions, and the number of each in a descriptor.
_REDUCTIONS = {"SUM": 0, "PRODUCT": 1, "LARGEST": 2, "SMALLEST": 3}

_REDUCE = kernel_with(
    "float_reduce",
    *_ENDS,
    *of_type("uint32_t", "rows", "count"),
    Member("divisor", "float"),
    Member("operation", "uint8_t", note="N6K_FLOAT_..."),
    doc="One element for each row of count elements. A sum carries its rounding errors along, and is divided by divisor.",
    definitions=enumeration("N6K_FLOAT", _REDUCTIONS),
)
_SOFTMAX = kernel_with(
    "float_softmax",
    *_ENDS,
    *of_type("uint32_t", "rows", "depth"),
    Member("logarithm", "uint8_t", note="0 or 1"),
    doc="Softmax of each row, or its logarithm.",
)
_TOP_K = kernel_with(
    "float_top_k",
    Member("input", reads("float")),
    Member("output", writes("void")),
    *of_type("uint32_t", "rows", "depth", "count"),
    Member("sign", "float", note="1: the largest, -1: the smallest"),
    Member("places", "uint8_t", note="0 or 1"),
    doc="The first `count` elements of each row in their order, or their places in the row as int64. Of equal elements the first "
    "one comes first.",
)


@dataclass(frozen=True)
class ReduceOptions:
    """Options of a reduction.

    Attributes:
        operation: SUM, PRODUCT, LARGEST or SMALLEST.
        count: Elements of a row.
        divisor: Number by which a sum is divided.
    """

    operation: str
    count: int
    divisor: int = 1


@dataclass(frozen=True)
class TopKOptions:
    """Options of a TopK.

    Attributes:
        count: Elements that are found in each row.
        sign: 1 for the largest elements, -1 for the smallest.
    """

    count: int
    sign: int


def _check_reduce(operands: Operands) -> Iterator[Problem]:
    yield from check_elements(operands.first, operands.output.elements * operands.options(ReduceOptions).count)


def _lower_reduce(operands: Operands) -> KernelCall:
    options = operands.options(ReduceOptions)
    return KernelCall(
        _REDUCE,
        {
            **ends(operands),
            "rows": operands.output.elements,
            "count": options.count,
            "divisor": float(options.divisor),
            "operation": _REDUCTIONS[options.operation],
        },
    )


def _lower_softmax(operands: Operands) -> KernelCall:
    return KernelCall(_SOFTMAX, {**row_arguments(operands), "logarithm": int(operands.options(bool))})


def _check_top_k(operands: Operands) -> Iterator[Problem]:
    depth = operands.first.shape[-1]
    yield from check_elements(operands.output, operands.first.elements // depth * operands.options(TopKOptions).count)


def _lower_top_k(operands: Operands) -> KernelCall:
    options = operands.options(TopKOptions)
    return KernelCall(
        _TOP_K,
        {
            **row_arguments(operands),
            "count": options.count,
            "sign": float(options.sign),
            "places": int(operands.output.dtype == "int64"),
        },
    )


OPERATORS = (
    OperatorKind(
        "FloatReduce", "FloatReduce", Rule((FLOAT32,), 1, (), FLOAT32, _check_reduce), _lower_reduce, (_REDUCE,)
    ),
    OperatorKind(
        "FloatSoftmax", "FloatSoftmax", Rule((FLOAT32,), 1, (), FLOAT32, check_elementwise), _lower_softmax, (_SOFTMAX,)
    ),
    OperatorKind(
        "FloatTopK", "FloatTopK", Rule((FLOAT32,), 1, (), (*FLOAT32, *INT64), _check_top_k), _lower_top_k, (_TOP_K,)
    ),
)
