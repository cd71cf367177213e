"""Operators of two tensors whose shapes broadcast as in NumPy.

The module has their rule and the order in which kernels walk through the operands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from n6build.compile.reference.descriptors import Member, Structure, of_type, reads, writes
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.kernel_call import Argument, Constant, Parameter, fields_of
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import CONVERT, Problem, shown

_LOOP = Structure(
    "n6k_loop_t",
    (Member("count", "uint32_t"), Member("a_step", "int32_t"), Member("b_step", "int32_t")),
)
# A tensor has six dimensions at most, and one of them is the run.
_LOOPS = 5
# Limit in elements up to which a constant is stored several times, so that runs are long.
_MOST_TILED = 256
_BROADCAST = Structure(
    "n6k_broadcast_t",
    (
        Member("run", "uint32_t"),
        *of_type("uint8_t", "a_step", "b_step"),
        *(Member(f"loop_{number}", _LOOP) for number in range(1, _LOOPS + 1)),
    ),
    doc="How two operands are walked through while the output is written from its start to its end. A run of elements, for which "
    "an operand advances (step 1) or stays (0); around it loops, the innermost first. The steps of a loop lead from where the "
    "last run inside it began to where its next one begins.",
)


def broadcast_members(a: str, b: str = "", output: str = "") -> tuple[Member, ...]:
    """Return the members of a descriptor for two operands that broadcast, in order.

    Args:
        a: C type of the elements of operand a.
        b: C type of the elements of operand b; empty for that of `a`.
        output: C type of the elements of the output; empty for that of `a`.
    """
    return (
        Member("a", reads(a)),
        Member("b", reads(b or a)),
        Member("output", writes(output or a)),
        Member("broadcast", _BROADCAST),
    )


BROADCAST_MEMBERS = broadcast_members("int8_t")
# The output may take the memory of an operand of the same size, because a kernel walks through both in the same order.
IN_PLACE = ("a", "b")


@dataclass(frozen=True)
class _Dimension:
    """A dimension, or several neighbouring dimensions merged into one.

    Attributes:
        size: Number of elements along it.
        a: True if operand a advances along it.
        b: True if operand b advances along it.
    """

    size: int
    a: bool
    b: bool


def check_broadcast(operands: Operands) -> Iterator[Problem]:
    """Check that the shapes of all inputs broadcast to the output's shape."""
    tensors, output = [tensor for tensor in operands.inputs if tensor], operands.output
    try:
        expected = np.broadcast_shapes(*(tensor.shape for tensor in tensors))
    except ValueError:
        given = " and ".join(f"{shown(tensor)} {list(tensor.shape)}" for tensor in tensors)
        yield Problem(
            "N6-NET-007",
            f"the shapes of tensors {given} do not broadcast",
            "make the dimensions equal or 1, counted from the last one",
        )
        return
    if _without_ones(expected) != _without_ones(output.shape):
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(output)} has the shape {list(output.shape)} instead of {list(expected)}",
            CONVERT,
        )


def broadcast_arguments(operands: Operands) -> dict[str, Argument]:
    """Return the arguments for `broadcast_members` from the first two inputs.

    Either input may be a constant.
    """
    a, b = operands.first, operands.required(1)
    whole = np.broadcast_shapes(*(tensor.shape for tensor in operands.inputs if tensor))
    dimensions = _dimensions(a.shape, b.shape, whole)
    arguments: dict[str, Argument] = {}
    for name, tensor in (("a", a), ("b", b)):
        arguments[name] = tensor
        if tensor.data is not None:
            run = dimensions[-1].size
            dimensions, copies = _with_longer_run(dimensions, name, tensor.elements)
            tiled = np.tile(tensor.data.reshape(-1, run), (1, copies)) if copies > 1 else None
            arguments[name] = Parameter(tensor, "constant") if tiled is None else Constant(tensor.dtype, tiled)
    return {**arguments, "output": operands.output, "broadcast": _walk(dimensions)}


def _with_longer_run(dimensions: list[_Dimension], name: str, elements: int) -> tuple[list[_Dimension], int]:
    """Return dimensions with a longer run, and the number of copies of a constant.

    A constant operand that begins anew in each run, such as one value for each channel, is stored
    several times. Several runs then become one. The number is 1 if that is impossible. `elements`
    is the size of the constant.
    """
    *outer, around, run = [_Dimension(1, a=True, b=True), *dimensions]
    if around.size == 1 or getattr(around, name) or not (run.a and run.b):
        return dimensions, 1
    fitting = range(1, max(1, _MOST_TILED // elements) + 1)
    copies = max(count for count in fitting if around.size % count == 0)
    return [*outer[1:], replace(around, size=around.size // copies), replace(run, size=run.size * copies)], copies


def _walk(dimensions: list[_Dimension]) -> Fields:
    """Return the member of type n6k_broadcast_t."""
    *outer, run = dimensions
    loops = []
    inside_a, inside_b = run.size if run.a else 1, run.size if run.b else 1
    position_a, position_b = 0, 0
    for dimension in reversed(outer):
        stride_a, stride_b = inside_a if dimension.a else 0, inside_b if dimension.b else 0
        loops.append((dimension.size, stride_a - position_a, stride_b - position_b))
        position_a += (dimension.size - 1) * stride_a
        position_b += (dimension.size - 1) * stride_b
        inside_a *= dimension.size if dimension.a else 1
        inside_b *= dimension.size if dimension.b else 1
    loops += [(1, 0, 0)] * (_LOOPS - len(loops))
    names = [member.name for member in _LOOP.members]
    return fields_of(
        _BROADCAST,
        {
            "run": run.size,
            "a_step": int(run.a),
            "b_step": int(run.b),
            **{
                f"loop_{number}": fields_of(_LOOP, dict(zip(names, loop, strict=True)))
                for number, loop in enumerate(loops, 1)
            },
        },
    )


def _dimensions(*shapes: tuple[int, ...]) -> list[_Dimension]:
    """Return the dimensions of a broadcast, without those of size 1.

    The shapes are those of both operands and the result of broadcasting all operands. Neighbours
    along which the same operands advance become one dimension.
    """
    rank = max(map(len, shapes))
    sizes = zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True)
    each = [_Dimension(max(a, b, output), a > 1, b > 1) for a, b, output in sizes if max(a, b, output) > 1]
    found = [
        _Dimension(math.prod(dimension.size for dimension in group), *advancing)
        for advancing, group in groupby(each, lambda dimension: (dimension.a, dimension.b))
    ]
    return found or [_Dimension(1, a=True, b=True)]


def _without_ones(shape: tuple[int, ...]) -> list[int]:
    return [size for size in shape if size != 1]
