"""Reductions over some dimensions of a tensor.

Operators:
    MEAN: the mean over any dimensions.
    REDUCE_MAX: the largest element over any dimensions.
    REDUCE_MIN: the smallest element over any dimensions.
    SUM: the sum over any dimensions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure, of_type
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, KernelCall, ends, fields_of
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE, output_range
from n6build.compile.reference.rules import INT8, INT32, Problem, Rule, check_elements, check_same_quantisation, shown

_AXES = 1  # The position of the input that names the dimensions.

_REDUCTION = Structure(
    "n6k_reduction_t",
    of_type("uint32_t", "outer", "first", "middle", "second", "inner"),
    doc="Sizes of an array [outer][first][middle][second][inner]; `first` and `second` are reduced.",
)

_SUM = Kernel(
    "sum",
    Structure(
        "n6k_reduced_sum_t",
        (
            *ENDS,
            Member("reduction", _REDUCTION),
            *of_type("int32_t", "bias", "multiplier", "shift"),
            Member("range", RANGE),
        ),
        doc="Sum over the reduced dimensions, scaled. bias: -input zero point * how many elements each sum has. multiplier, "
        "shift: of input scale / output scale, for a mean divided by that number. Rounding: double.",
    ),
)
_EXTREME = Structure(
    "n6k_reduce_t",
    (*ENDS, Member("reduction", _REDUCTION)),
    doc="The largest or the smallest element over the reduced dimensions.",
)


@dataclass(frozen=True)
class Reduction:
    """Sizes of an array whose dimensions are reduced, as in _REDUCTION."""

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
        """Return the member of type _REDUCTION."""
        return fields_of(_REDUCTION, vars(self))


def _check_axes(operands: Operands) -> Iterator[Problem]:
    """Check the dimensions that an operator reduces.

    They are dimensions of the first input, in at most two groups of neighbours. The output has the
    other dimensions.
    """
    axes, first = operands.required(_AXES), operands.first
    rank = len(first.shape)
    if any(not -rank <= axis < rank for axis in _named(axes)):
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(axes)} names the axes {_named(axes)} of {rank} dimensions",
            f"use axes {-rank} to {rank - 1}",
        )
        return
    reduced = _reduced(operands)
    if len(_groups(first.shape, reduced)) > len(_REDUCTION.members):
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(axes)} names the axes {_named(axes)} of {list(first.shape)}, which are in three groups",
            "reduce in two steps, or transpose first",
        )
        return
    kept = math.prod(size for axis, size in enumerate(first.shape) if axis not in reduced)
    yield from check_elements(operands.output, kept)


def reduction_of(operands: Operands) -> Reduction:
    """Return the reduction of an operator that has passed `_check_axes`."""
    sizes = _groups(operands.first.shape, _reduced(operands))
    return Reduction(*[1] * (len(_REDUCTION.members) - len(sizes)), *sizes)


def _divided(multiplier: int, shift: int, count: int) -> tuple[int, int]:
    """Return the scaling that makes the mean of `count` values from their sum.

    The division is folded into it as in the reference resolver. The multiplier is shifted up before
    it is divided, as far as its right shift of at most 31 bits allows.
    """
    up = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << up) // count, shift - up


def _wrapped(value: int) -> int:
    """Return a value modulo 2^32, as an int32 accumulator has it."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _named(axes: Tensor) -> list[int]:
    assert axes.data is not None
    return [int(axis) for axis in axes.data.reshape(-1)]


def _reduced(operands: Operands) -> frozenset[int]:
    """Return the reduced dimensions; negative axes count from the end."""
    rank = len(operands.first.shape)
    return frozenset(axis % rank for axis in _named(operands.required(_AXES)))


def _groups(shape: tuple[int, ...], reduced: frozenset[int]) -> list[int]:
    """Return the sizes of merged neighbouring dimensions, in turn kept and reduced.

    The first and the last one are kept.
    """
    sizes = [(axis in reduced, size) for axis, size in enumerate(shape) if size > 1]
    runs = [(key, math.prod(size for _, size in run)) for key, run in itertools.groupby(sizes, lambda pair: pair[0])]
    before = [1] if not runs or runs[0][0] else []
    after = [1] if runs and runs[-1][0] else []
    return [*before, *(size for _, size in runs), *after]


def _sum(name: str, label: str, mean: bool) -> OperatorKind:
    """Return an operator that adds elements, and divides the sum if it is a mean."""

    def lower(operands: Operands) -> KernelCall:
        given, target = required_quantisation(operands.first), required_quantisation(operands.output)
        reduction, scaling = reduction_of(operands), accumulator_multiplier(given.scale / target.scale)
        multiplier, shift = _divided(*scaling, reduction.count) if mean else scaling
        arguments: dict[str, Argument] = {
            **ends(operands),
            "reduction": reduction.fields,
            "bias": _wrapped(-given.zero_point * reduction.count),
            "multiplier": multiplier,
            "shift": shift,
            "range": output_range(operands.output, "NONE"),
        }
        return KernelCall(_SUM, arguments)

    return OperatorKind(name, label, Rule((INT8, INT32), 2, (_AXES,), INT8, _check_axes), lower, (_SUM,))


def _extreme(name: str, label: str) -> OperatorKind:
    """Return an operator with the kernel n6k_<name>; the scale stays the same."""
    kernel = Kernel(name.lower(), _EXTREME)

    def check(operands: Operands) -> Iterator[Problem]:
        yield from _check_axes(operands)
        yield from check_same_quantisation(operands.first, operands.output)

    def lower(operands: Operands) -> KernelCall:
        return KernelCall(kernel, {**ends(operands), "reduction": reduction_of(operands).fields})

    return OperatorKind(name, label, Rule((INT8, INT32), 2, (_AXES,), INT8, check), lower, (kernel,))


OPERATORS = (
    _sum("MEAN", "Mean", mean=True),
    _extreme("REDUCE_MAX", "ReduceMax"),
    _extreme("REDUCE_MIN", "ReduceMin"),
    _sum("SUM", "Sum", mean=False),
)
