"""Indices of the first largest or smallest element.

Operators:
    ARG_MAX: the index of the first largest element along a dimension.
    ARG_MIN: the index of the first smallest element along a dimension.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import tflite

from n6build.compile.reference.descriptors import Kernel, Member, Structure, kernel_with, of_type, reads, writes
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, KernelCall, ends
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import FLOAT32, INT8, INT32, INT64, Problem, Rule, check_elements, shown

_AXIS = 1

_PLACES = (Member("output", writes("void")), *of_type("uint32_t", "outer", "depth", "inner"), Member("wide", "uint8_t"))
_DESCRIPTOR = Structure(
    "n6k_arg_t",
    (Member("input", reads("int8_t")), *_PLACES),
    doc="input [outer][depth][inner]; output [outer][inner], int32 or, if `wide`, int64: an index along depth. Of equal elements "
    "the first one counts.",
)
_OF_FLOAT32 = kernel_with(
    "arg_float32",
    Member("input", reads("float")),
    *_PLACES,
    Member("sign", "float", note="1: the largest, -1: the smallest"),
    doc="As n6k_arg_t, of float32.",
)


def _check(operands: Operands) -> Iterator[Problem]:
    axis, rank = operands.required(_AXIS), len(operands.first.shape)
    if axis.elements != 1 or not -rank <= _value(axis) < rank:
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(axis)} names no dimension of {list(operands.first.shape)}",
            f"use one axis from {-rank} to {rank - 1}",
        )
        return
    yield from check_elements(operands.output, operands.first.elements // operands.first.shape[_axis_of(operands)])


def _axis_of(operands: Operands) -> int:
    return _value(operands.required(_AXIS)) % len(operands.first.shape)


def _value(axis: Tensor) -> int:
    assert axis.data is not None
    return int(axis.data.reshape(-1)[0])


def _search(name: str, label: str, options: type, sign: int) -> OperatorKind:
    """Return an operator whose kernel for int8 is n6k_<name>, in lower case.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        options: Class of the operator's table of options in the schema.
        sign: 1 for the largest element, -1 for the smallest.
    """
    kernel = Kernel(name.lower(), _DESCRIPTOR)

    def lower(operands: Operands) -> KernelCall:
        shape, axis = operands.first.shape, _axis_of(operands)
        arguments: dict[str, Argument] = {
            **ends(operands),
            "outer": math.prod(shape[:axis]),
            "depth": shape[axis],
            "inner": math.prod(shape[axis + 1 :]),
            "wide": int(operands.output.dtype == "int64"),
        }
        if operands.first.dtype == "float32":
            return KernelCall(_OF_FLOAT32, {**arguments, "sign": float(sign)})
        return KernelCall(kernel, arguments)

    rule = Rule(((*INT8, *FLOAT32), (*INT32, *INT64)), 2, (_AXIS,), (*INT32, *INT64), _check)
    # The type of the output comes from its tensor, so the options are not needed.
    reader = OptionsReader(options, lambda _: None)
    return OperatorKind(name, label, rule, lower, (kernel, _OF_FLOAT32), reader)


OPERATORS = (
    _search("ARG_MAX", "ArgMax", tflite.ArgMaxOptions, 1),
    _search("ARG_MIN", "ArgMin", tflite.ArgMinOptions, -1),
)
