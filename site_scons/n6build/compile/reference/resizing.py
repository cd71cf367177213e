"""Options, rule and positions of operators that make images larger or smaller.

The positions relate elements of the output to elements of the input along a dimension.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import CONVERT, Problem, check_nhwc, shown

# Steps between two elements of the input, as the reference resolver counts them for integers.
_FRACTION_BITS = 10
ONE = 1 << _FRACTION_BITS


@dataclass(frozen=True)
class ResizeOptions:
    """Options that relate positions in the output to those in the input."""

    align_corners: bool
    half_pixel_centers: bool


def check_resize(operands: Operands) -> Iterator[Problem]:
    """Check that tensors are NHWC and that the output has the requested size."""
    yield from check_nhwc(operands.first, operands.output)
    given, size, made = operands.first, operands.required(1), operands.output
    assert size.data is not None
    asked = tuple(size.data.reshape(-1).tolist())
    if made.shape != (1, *asked, given.shape[3]) or given.dtype != made.dtype:
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(made)} has the shape {list(made.shape)} instead of {[1, *asked, given.shape[3]]}",
            CONVERT,
        )


def _scale(given: int, made: int, options: ResizeOptions) -> np.float32:
    """Return the scale of positions, in float32 as the reference computes it."""
    aligned = options.align_corners and made > 1
    return np.float32(given - 1) / np.float32(made - 1) if aligned else np.float32(given) / np.float32(made)


def nearest(given: int, made: int, options: ResizeOptions) -> list[int]:
    """Return the input position of each output position.

    It is computed in float32, as the reference does.

    Args:
        given: Size of the input along the dimension.
        made: Size of the output along the dimension.
        options: Options of the operator.
    """
    scale = _scale(given, made, options)
    offset = np.float32(0.5 if options.half_pixel_centers else 0)
    positions = ((np.arange(made).astype(np.float32) + offset) * scale).astype(np.float64)
    rounded = np.floor(positions + 0.5) if options.align_corners else np.floor(positions)
    return [max(0, min(int(position), given - 1)) for position in rounded]


@dataclass(frozen=True)
class Between:
    """A position between two elements of the input.

    Attributes:
        lower: Position of the lower element.
        upper: Position of the upper element.
        weight: Distance from `lower` to `upper`, in units of 1 / ONE.
    """

    lower: int
    upper: int
    weight: int


def between(given: int, made: int, options: ResizeOptions) -> list[Between]:
    """Return the position between input elements of each output position.

    It is computed in integers, as in the reference resolver. In a very large output, the resolver's
    rounding errors add up and it reads behind the input's end. Here, that is the last element.

    Args:
        given: Size of the input along the dimension.
        made: Size of the output along the dimension.
        options: Options of the operator.
    """
    scale = (ONE * given + made // 2) // made
    if options.align_corners and made > 1:
        scale = (ONE * (given - 1) + (made - 1) // 2) // (made - 1)
    centre = scale // 2 - ONE // 2 if options.half_pixel_centers else 0
    return [_between(position * scale + centre, given) for position in range(made)]


def _between(scaled: int, given: int) -> Between:
    lower, upper = (max(0, min(bound, given - 1)) for bound in (scaled >> _FRACTION_BITS, -(-scaled >> _FRACTION_BITS)))
    # Before the first and behind the last element there is only one element, so that the weight does not matter.
    return Between(lower, upper, scaled - ONE * lower if lower != upper else 0)


@dataclass(frozen=True)
class RealBetween:
    """A position between two elements of the input, with a real weight.

    Attributes:
        lower: Position of the lower element.
        upper: Position of the upper element.
        weight: Distance from `lower` on the way to `upper`; the position is outside of them only
            where the input ends.
    """

    lower: int
    upper: int
    weight: np.float32


def between_real(given: int, made: int, options: ResizeOptions) -> list[RealBetween]:
    """Return the position between input elements of each output position, in float32.

    It is computed as in the reference resolver.

    Args:
        given: Size of the input along the dimension.
        made: Size of the output along the dimension.
        options: Options of the operator.
    """
    scale, half = _scale(given, made, options), np.float32(0.5)
    positions = np.arange(made).astype(np.float32)
    scaled = (positions + half) * scale - half if options.half_pixel_centers else positions * scale
    return [_between_real(at, given) for at in scaled]


def _between_real(position: np.float32, given: int) -> RealBetween:
    lower, upper = (max(0, min(int(bound), given - 1)) for bound in (np.floor(position), np.ceil(position)))
    return RealBetween(lower, upper, position - np.float32(lower))
