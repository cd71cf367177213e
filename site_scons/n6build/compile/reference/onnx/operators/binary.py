"""Operators of two int8 tensors that are broadcast to the output's shape.

QLinearAdd divides the scales of both by the output's, QLinearMul scales the product of integers in
float32. Add, Sub, Mul, Div, Max and Min are computed in float32 step by step, where ONNX Runtime
has no integer operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from n6build.compile.reference.descriptors import Kernel, Member, Structure, kernel_with, of_type, reads, writes
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.graph import Quantisation
from n6build.compile.reference.kernel_call import Argument, KernelCall, fields_of, operand
from n6build.compile.reference.onnx.limits import LimitOptions, limited_range
from n6build.compile.reference.onnx.storage import Shape
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.rules import INT8, Problem, Rule, shown

_RANK = 4
_STRIDES = Structure(
    "n6k_strides_t",
    tuple(Member(f"d{axis}", "uint32_t") for axis in range(_RANK)),
    doc="Of four dimensions, from the outermost on: sizes, or how many elements a step along each of them is.",
)
# Members of a descriptor, in this order. Strides of the last dimension are 0 or 1.
_OPERAND_MEMBERS = (
    *of_type(reads("int8_t"), "a", "b"),
    Member("output", writes("int8_t")),
    *of_type(_STRIDES, "sizes", "a_strides", "b_strides"),
)


def _merged_strides(output: Shape, a: Shape, b: Shape) -> tuple[list[int], list[int], list[int]] | None:
    """Return the sizes and the strides of both operands, or None.

    Neighbouring dimensions are merged where possible. The result is None if more than four
    dimensions are left. All shapes have the rank of the output.

    Args:
        output: Shape of the output.
        a: Shape of the first operand.
        b: Shape of the second operand.
    """
    sizes: list[int] = []
    steps: tuple[list[int], list[int]] = ([], [])
    ends = [1, 1]
    for axis in reversed(range(len(output))):
        size = output[axis]
        if size == 1:
            continue
        strides = [0 if shape[axis] == 1 else end for shape, end in zip((a, b), ends, strict=True)]
        ends = [end * shape[axis] for shape, end in zip((a, b), ends, strict=True)]
        # One step along this dimension equals all steps along the one behind it: both are merged.
        if sizes and all(stride == before[0] * sizes[0] for stride, before in zip(strides, steps, strict=True)):
            sizes[0] *= size
            continue
        sizes.insert(0, size)
        for before, stride in zip(steps, strides, strict=True):
            before.insert(0, stride)
    missing = _RANK - len(sizes)
    if missing < 0:
        return None
    if not sizes:
        return [1] * _RANK, [0] * _RANK, [0] * _RANK
    return [1] * missing + sizes, [0] * missing + steps[0], [0] * missing + steps[1]


def _check(operands: Operands) -> Iterator[Problem]:
    """Check that the operands can be broadcast in four dimensions."""
    if _merged_strides(operands.output.shape, operands.first.shape, operands.required(1).shape) is None:
        what = f"tensors {shown(operands.first)} and {shown(operands.required(1))} are broadcast in too many dimensions"
        yield Problem("N6-NET-007", what, "expand one of them before this node")


_RULE = Rule(inputs=(INT8, INT8), required=2, constants=(), output=INT8, check=_check, first_may_be_constant=True)


def _operand_arguments(operands: Operands) -> dict[str, Argument]:
    """Return the arguments for _OPERAND_MEMBERS."""
    a, b, output = operands.first, operands.required(1), operands.output
    strides = _merged_strides(output.shape, a.shape, b.shape)
    assert strides is not None
    names = ("sizes", "a_strides", "b_strides")
    ends: dict[str, Argument] = {"a": operand(a), "b": operand(b), "output": output}
    return {**ends, **dict(zip(names, map(_fields, strides), strict=True))}


def _quantisations(operands: Operands) -> tuple[Quantisation, Quantisation, Quantisation]:
    """Return the _quantisations of both operands and of the output."""
    a, b, output = map(required_quantisation, (operands.first, operands.required(1), operands.output))
    return a, b, output


def _fields(numbers: list[int]) -> Fields:
    return fields_of(_STRIDES, {f"d{axis}": number for axis, number in enumerate(numbers)})


@dataclass(frozen=True)
class BinaryOptions(LimitOptions):
    """Options of an operator of two tensors.

    Attributes:
        offsets: Offsets of both operands and the output, 128 where the model has uint8.
    """

    offsets: tuple[int, int, int] = (0, 0, 0)


_ADD = kernel_with(
    "qlinear_add",
    *_OPERAND_MEMBERS,
    *of_type("float", "a_ratio", "b_ratio", "constant"),
    *of_type("int32_t", "a_offset", "b_offset", "output_offset"),
    Member("range", RANGE),
    doc="fma(a_ratio, a + a_offset, fma(b_ratio, b + b_offset, constant)) in float32, rounded half to even, less "
    "output_offset. Offsets are 128 where the model has uint8, otherwise 0.",
    in_place=("a", "b"),
)


def _added(operands: Operands) -> KernelCall:
    a, b, target = _quantisations(operands)
    of_a, of_b, of_output = operands.options(BinaryOptions).offsets
    ratio_a, ratio_b = (np.float32(each.scale) / np.float32(target.scale) for each in (a, b))
    shift = ratio_a * np.float32(a.zero_point + of_a) + ratio_b * np.float32(b.zero_point + of_b)
    return KernelCall(
        _ADD,
        {
            **_operand_arguments(operands),
            "a_ratio": float(ratio_a),
            "b_ratio": float(ratio_b),
            "constant": float(np.float32(target.zero_point + of_output) - shift),
            "a_offset": of_a,
            "b_offset": of_b,
            "output_offset": of_output,
            "range": limited_range(operands.output),
        },
    )


_MUL = kernel_with(
    "qlinear_mul",
    *_OPERAND_MEMBERS,
    *of_type("float", "ratio", "zero_point"),
    Member("output_offset", "int32_t"),
    *of_type("int8_t", "a_zero_point", "b_zero_point"),
    Member("range", RANGE),
    doc="The product of both less their zero points, times ratio, plus zero_point, in float32, rounded half to even, less "
    "output_offset, 128 where the model has uint8.",
    in_place=("a", "b"),
)


def _multiplied(operands: Operands) -> KernelCall:
    a, b, target = _quantisations(operands)
    offset = operands.options(BinaryOptions).offsets[2]
    return KernelCall(
        _MUL,
        {
            **_operand_arguments(operands),
            "ratio": float(np.float32(a.scale) * np.float32(b.scale) / np.float32(target.scale)),
            "zero_point": float(target.zero_point + offset),
            "output_offset": offset,
            "a_zero_point": a.zero_point,
            "b_zero_point": b.zero_point,
            "range": limited_range(operands.output),
        },
    )


_BINARY = Structure(
    "n6k_real_binary_t",
    (
        *_OPERAND_MEMBERS,
        *of_type("float", "a_scale", "b_scale", "output_scale"),
        *of_type("int8_t", "a_zero_point", "b_zero_point"),
        Member("range", RANGE),
    ),
    doc="(a - zero point) * scale with the same of b, in float32; the result divided by output_scale and rounded half to even.",
)


def _real(name: str) -> OperatorKind:
    """Return an operator with this name in ONNX, computed in float32."""
    kernel = Kernel(f"real_{name.lower()}", _BINARY, in_place=("a", "b"))

    def lower(operands: Operands) -> KernelCall:
        options = operands.options(BinaryOptions)
        a, b, target = _quantisations(operands)
        return KernelCall(
            kernel,
            {
                **_operand_arguments(operands),
                "a_scale": a.scale,
                "b_scale": b.scale,
                "output_scale": target.scale,
                "a_zero_point": a.zero_point,
                "b_zero_point": b.zero_point,
                "range": limited_range(operands.output, options),
            },
        )

    return OperatorKind(name=name, label=name, rule=_RULE, lower=lower, kernels=(kernel,))


OPERATORS = (
    OperatorKind("QLinearAdd", "QLinearAdd", _RULE, _added, (_ADD,)),
    OperatorKind("QLinearMul", "QLinearMul", _RULE, _multiplied, (_MUL,)),
    *map(_real, ("Add", "Sub", "Mul", "Div", "Max", "Min")),
)
