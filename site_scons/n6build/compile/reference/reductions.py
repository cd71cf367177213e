"""Reductions over some dimensions of a tensor.

The module has the reduced dimensions as sizes for the kernels, and sums that are scaled to their
mean.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import KernelCall, fields_of
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.ranges import RANGE, output_range
from n6build.compile.reference.rules import Problem, check_elements, shown

AXES = 1  # The position of the input that names the dimensions.

REDUCTION = Structure(
    "n6k_reduction_t",
    tuple(Member(name, "uint32_t") for name in ("outer", "first", "middle", "second", "inner")),
    doc="Sizes of an array [outer][first][middle][second][inner]; `first` and `second` are reduced.",
)

SUM = Kernel(
    "sum",
    Structure(
        "n6k_reduced_sum_t",
        (
            *ENDS,
            Member("reduction", REDUCTION),
            Member("bias", "int32_t"),
            Member("multiplier", "int32_t"),
            Member("shift", "int32_t"),
            Member("range", RANGE),
        ),
        doc="Sum over the reduced dimensions, scaled. bias: -input zero point * how many elements each sum has. multiplier, "
        "shift: of input scale / output scale, for a mean divided by that number. Rounding: double.",
    ),
)


@dataclass(frozen=True)
class Reduction:
    """Sizes of an array whose dimensions are reduced, as in REDUCTION."""

    outer: int
    first: int
    middle: int
    second: int
    inner: int

    @property
    def count(self) -> int:
        """Return the number of elements that make one element of the output."""
        return self.first * self.second

    @property
    def fields(self) -> Fields:
        """Return the member of type REDUCTION."""
        return fields_of(REDUCTION, vars(self))


def check_axes(operands: Operands) -> Iterator[Problem]:
    """Check the dimensions that an operator reduces.

    They are dimensions of the first input, in at most two groups of neighbours. The output has the
    other dimensions.
    """
    axes, first = operands.required(AXES), operands.first
    rank = len(first.shape)
    if any(not -rank <= axis < rank for axis in _named(axes)):
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(axes)} names the axes {_named(axes)} of {rank} dimensions",
            f"use axes {-rank} to {rank - 1}",
        )
        return
    reduced = _reduced(operands)
    if len(_groups(first.shape, reduced)) > len(REDUCTION.members):
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(axes)} names the axes {_named(axes)} of {list(first.shape)}, which are in three groups",
            "reduce in two steps, or transpose first",
        )
        return
    kept = math.prod(size for axis, size in enumerate(first.shape) if axis not in reduced)
    yield from check_elements(operands.output, kept)


def reduction_of(operands: Operands) -> Reduction:
    """Return the reduction of an operator that has passed `check_axes`."""
    sizes = _groups(operands.first.shape, _reduced(operands))
    return Reduction(*[1] * (len(REDUCTION.members) - len(sizes)), *sizes)


def sum_call(operands: Operands, reduction: Reduction, multiplier: int, shift: int) -> KernelCall:
    """Return a call of SUM."""
    return KernelCall(
        SUM,
        {
            "input": operands.first,
            "output": operands.output,
            "reduction": reduction.fields,
            "bias": _wrapped(-required_quantisation(operands.first).zero_point * reduction.count),
            "multiplier": multiplier,
            "shift": shift,
            "range": output_range(operands.output, "NONE"),
        },
    )


def _wrapped(value: int) -> int:
    """Return a value modulo 2^32, as an int32 accumulator has it."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _named(axes: Tensor) -> list[int]:
    assert axes.data is not None
    return [int(axis) for axis in axes.data.reshape(-1)]


def _reduced(operands: Operands) -> frozenset[int]:
    """Return the reduced dimensions; negative axes count from the end."""
    rank = len(operands.first.shape)
    return frozenset(axis % rank for axis in _named(operands.required(AXES)))


def _groups(shape: tuple[int, ...], reduced: frozenset[int]) -> list[int]:
    """Return the sizes of merged neighbouring dimensions, in turn kept and reduced.

    The first and the last one are kept.
    """
    sizes = [(axis in reduced, size) for axis, size in enumerate(shape) if size > 1]
    runs = [(key, math.prod(size for _, size in run)) for key, run in itertools.groupby(sizes, lambda pair: pair[0])]
    before = [1] if not runs or runs[0][0] else []
    after = [1] if runs and runs[-1][0] else []
    return [*before, *(size for _, size in runs), *after]
