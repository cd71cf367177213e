"""Paddings before and behind each dimension of a tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.movement import Array, Pair, filled, integers
from n6build.compile.reference.operands import Operands


def paddings_of(operands: Operands, position: int = 1) -> list[tuple[int, int]]:
    """Return the paddings (before, after) of each dimension.

    They come from a constant of the shape [dimensions, 2].

    Raises:
        ValueError: The constant has another shape, or negative numbers.
    """
    numbers = integers(operands, position)
    if operands.required(position).shape != (len(numbers) // 2, 2) or min(numbers) < 0:
        raise ValueError(f"paddings {numbers}")
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def zero_of(tensor: Tensor) -> int:
    """Return the element that represents the real value 0."""
    return tensor.quantisation.zero_point if tensor.quantisation else 0


def inside(target: Array, paddings: Sequence[tuple[int, int]]) -> Array:
    """Return all but the first and last elements of each dimension."""
    return target[
        tuple(slice(before, size - after) for (before, after), size in zip(paddings, target.shape, strict=True))
    ]


def padded(target: Array, source: Array, paddings: Sequence[tuple[int, int]], value: float) -> Iterator[Pair]:
    """Yield pairs for the source inside the target and `value` around it.

    Raises:
        ValueError: The shapes do not fit together.
        IndexError: The shapes do not fit together.
    """
    rest = target
    for axis, ((before, after), size) in enumerate(zip(paddings, source.shape, strict=True)):
        everything = (slice(None),) * axis
        for outside in (slice(0, before), slice(before + size, before + size + after)):
            yield filled(rest[(*everything, outside)], value)
        rest = rest[(*everything, slice(before, before + size))]
    yield Pair(inside(target, paddings), source)
