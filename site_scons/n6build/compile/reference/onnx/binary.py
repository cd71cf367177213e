"""Operators of two int8 tensors that are broadcast to the output's shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.descriptors import Member, Structure, reads, writes
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.graph import Quantisation
from n6build.compile.reference.kernel_call import Argument, fields_of, operand
from n6build.compile.reference.onnx.storage import Shape
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.rules import INT8, Problem, Rule, shown

_RANK = 4
_STRIDES = Structure(
    "n6k_strides_t",
    tuple(Member(f"d{axis}", "uint32_t") for axis in range(_RANK)),
    doc="Of four dimensions, from the outermost on: sizes, or how many elements a step along each of them is.",
)
# Members of a descriptor, in this order. Strides of the last dimension are 0 or 1.
OPERAND_MEMBERS = (
    Member("a", reads("int8_t")),
    Member("b", reads("int8_t")),
    Member("output", writes("int8_t")),
    Member("sizes", _STRIDES),
    Member("a_strides", _STRIDES),
    Member("b_strides", _STRIDES),
)


def merged_strides(output: Shape, a: Shape, b: Shape) -> tuple[list[int], list[int], list[int]] | None:
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


def check_operands(operands: Operands) -> Iterator[Problem]:
    """Check that the operands can be broadcast in four dimensions."""
    if merged_strides(operands.output.shape, operands.first.shape, operands.required(1).shape) is None:
        what = f"tensors {shown(operands.first)} and {shown(operands.required(1))} are broadcast in too many dimensions"
        yield Problem("N6-NET-007", what, "expand one of them before this node")


RULE = Rule(
    inputs=(INT8, INT8), required=2, constants=(), output=INT8, check=check_operands, first_may_be_constant=True
)


def operand_arguments(operands: Operands) -> dict[str, Argument]:
    """Return the arguments for OPERAND_MEMBERS."""
    a, b, output = operands.first, operands.required(1), operands.output
    strides = merged_strides(output.shape, a.shape, b.shape)
    assert strides is not None
    names = ("sizes", "a_strides", "b_strides")
    ends: dict[str, Argument] = {"a": operand(a), "b": operand(b), "output": output}
    return {**ends, **dict(zip(names, map(_fields, strides), strict=True))}


def quantisations(operands: Operands) -> tuple[Quantisation, Quantisation, Quantisation]:
    """Return the quantisations of both operands and of the output."""
    a, b, output = map(required_quantisation, (operands.first, operands.required(1), operands.output))
    return a, b, output


def binary_options(operands: Operands) -> BinaryOptions:
    """Return the options of an operator that has `BinaryOptions`."""
    options = operands.operator.options
    assert isinstance(options, BinaryOptions)
    return options


def _fields(numbers: list[int]) -> Fields:
    return fields_of(_STRIDES, {f"d{axis}": number for axis, number in enumerate(numbers)})


@dataclass(frozen=True)
class BinaryOptions:
    """Options of an operator of two tensors.

    Attributes:
        low: Lower limit of the output's real numbers.
        high: Upper limit of the output's real numbers.
        offsets: Offsets of both operands and the output, 128 where the model has uint8.
    """

    low: float
    high: float
    offsets: tuple[int, int, int] = (0, 0, 0)
