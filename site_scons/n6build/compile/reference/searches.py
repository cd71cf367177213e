"""ARG_MAX and ARG_MIN: the index of the first largest or smallest element."""

from __future__ import annotations

import math
from collections.abc import Iterator

import tflite

from n6build.compile.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import FLOAT32, INT8, INT32, INT64, Problem, Rule, check_elements, shown

_AXIS = 1

_PLACES = (
    Member("output", writes("void")),
    Member("outer", "uint32_t"),
    Member("depth", "uint32_t"),
    Member("inner", "uint32_t"),
    Member("wide", "uint8_t"),
)
_DESCRIPTOR = Structure(
    "n6k_arg_t",
    (Member("input", reads("int8_t")), *_PLACES),
    doc="input [outer][depth][inner]; output [outer][inner], int32 or, if `wide`, int64: an index along depth. Of equal elements "
    "the first one counts.",
)
_OF_FLOAT32 = Kernel(
    "arg_float32",
    Structure(
        "n6k_arg_float32_t",
        (Member("input", reads("float")), *_PLACES, Member("sign", "float", note="1: the largest, -1: the smallest")),
        doc="As n6k_arg_t, of float32.",
    ),
)


def search(name: str, label: str, kernel_name: str, options: type, sign: int) -> OperatorKind:
    """Return the operator of a name in the schema.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        kernel_name: Name of the function that searches in int8.
        options: Class of the operator's table of options in the schema.
        sign: 1 for the largest element, -1 for the smallest.
    """
    kernel = Kernel(kernel_name, _DESCRIPTOR)

    def lower(operands: Operands) -> KernelCall:
        shape, axis = operands.first.shape, _axis_of(operands)
        arguments: dict[str, Argument] = {
            "input": operands.first,
            "output": operands.output,
            "outer": math.prod(shape[:axis]),
            "depth": shape[axis],
            "inner": math.prod(shape[axis + 1 :]),
            "wide": int(operands.output.dtype == "int64"),
        }
        if operands.first.dtype == "float32":
            return KernelCall(_OF_FLOAT32, {**arguments, "sign": float(sign)})
        return KernelCall(kernel, arguments)

    return OperatorKind(
        name=name,
        label=label,
        # The type of the output comes from its tensor, so the options are not needed.
        options=OptionsReader(options, getattr(tflite.BuiltinOptions, options.__name__), lambda _: None),
        rule=Rule(
            inputs=((*INT8, *FLOAT32), (*INT32, *INT64)),
            required=2,
            constants=(_AXIS,),
            output=(*INT32, *INT64),
            check=_check,
        ),
        lower=lower,
        kernels=(kernel, _OF_FLOAT32),
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
