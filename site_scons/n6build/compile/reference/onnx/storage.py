"""The order of a tensor's dimensions in memory.

ONNX puts channels in front of height and width, the kernels put them behind.
"""

from __future__ import annotations

from collections.abc import Sequence

# Stored dimension i is dimension order[i] of the tensor as the ONNX graph has it.
Order = tuple[int, ...]
Shape = tuple[int, ...]


def as_in_the_model(rank: int) -> Order:
    """Return the order of the ONNX graph itself."""
    return tuple(range(rank))


def channels_last(rank: int) -> Order:
    """Return the order batch, all other dimensions, channels."""
    return (0, *range(2, rank), 1) if rank > 2 else as_in_the_model(rank)


def stored_shape(shape: Shape, order: Order) -> Shape:
    """Return the shape in memory of a tensor with this shape in the ONNX graph."""
    return tuple(shape[axis] for axis in order)


def same_bytes(shape: Shape, first: Order, second: Order) -> bool:
    """Return whether both orders give the same bytes.

    They do if they differ in dimensions of size 1 only.
    """
    return _without_ones(shape, first) == _without_ones(shape, second)


def _without_ones(shape: Shape, order: Order) -> list[int]:
    return [axis for axis in order if shape[axis] != 1]


def permutation(given: Order, wanted: Order) -> tuple[int, ...]:
    """Return the number of the stored dimension for each wanted one."""
    return tuple(given.index(axis) for axis in wanted)


def transposed(order: Order, perm: Sequence[int]) -> Order:
    """Return the order of a Transpose's output in the memory of its input.

    Dimension i of the output is dimension perm[i] of the input.
    """
    return tuple(tuple(perm).index(axis) for axis in order)
