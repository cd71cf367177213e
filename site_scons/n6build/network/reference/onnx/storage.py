"""The order in which the dimensions of a tensor lie in memory. ONNX puts channels before height and width, the kernels behind."""

from __future__ import annotations

from collections.abc import Sequence

# Stored dimension i is dimension order[i] of the tensor as the ONNX graph has it.
Order = tuple[int, ...]
Shape = tuple[int, ...]


def as_in_the_model(rank: int) -> Order:
    """No other order than that of the ONNX graph."""
    return tuple(range(rank))


def channels_last(rank: int) -> Order:
    """Batch, then all but the channels, then those."""
    return (0, *range(2, rank), 1) if rank > 2 else as_in_the_model(rank)


def stored_shape(shape: Shape, order: Order) -> Shape:
    """Of a tensor with this shape in the ONNX graph."""
    return tuple(shape[axis] for axis in order)


def same_bytes(shape: Shape, first: Order, second: Order) -> bool:
    """Whether memory looks the same in both orders: they differ in dimensions of size 1 only."""
    return _without_ones(shape, first) == _without_ones(shape, second)


def _without_ones(shape: Shape, order: Order) -> list[int]:
    return [axis for axis in order if shape[axis] != 1]


def permutation(given: Order, wanted: Order) -> tuple[int, ...]:
    """Which stored dimension each wanted one is."""
    return tuple(given.index(axis) for axis in wanted)


def transposed(order: Order, perm: Sequence[int]) -> Order:
    """The order of what a Transpose makes, in the memory of its input: dimension i of it is dimension perm[i] of the input."""
    return tuple(tuple(perm).index(axis) for axis in order)
