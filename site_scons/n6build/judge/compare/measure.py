"""Measure of the distance between values and those of the reference interpreter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Measure:
    """Distance of a tensor from the reference.

    Attributes:
        elements: Number of elements.
        equal: Number of equal elements.
        within_1: Number of elements that differ by at most one step.
        max: Largest difference, in steps.
        cosine: Cosine of the angle between both, from the zero point; 1 for two zero tensors, 0 for one,
            or if a value is not a number.
    """

    elements: int
    equal: int
    within_1: int
    max: float
    cosine: float


def measure(got: NDArray[np.generic], wanted: NDArray[np.generic], zero_point: float, *, step: float = 1.0) -> Measure:
    """Measure the distance of two tensors with the same elements in the same order.

    Args:
        got: Values to measure.
        wanted: Values of the reference.
        zero_point: Zero point of both.
        step: Difference that counts as 1: 1 for integers; for floating-point values, the scale of the
            quantised values that they come from.

    Raises:
        ValueError: If sizes differ.
    """
    if got.size != wanted.size:
        raise ValueError(f"{got.size} elements against {wanted.size}")
    # float64 holds every integer of 32 bits and every float32.
    mine, theirs = (np.asarray(each).reshape(-1).astype(np.float64) for each in (got, wanted))
    same = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where(same, 0.0, np.abs(mine - theirs) / step)
    # JSON has no infinity.
    difference = np.nan_to_num(difference, nan=_LARGEST, posinf=_LARGEST)
    # A step of floating-point values is not exact: half a step more is still the same number of steps.
    near = difference <= (1.0 if step == 1.0 else 1.5)
    return Measure(
        elements=int(mine.size),
        equal=int(same.sum()),
        within_1=int(near.sum()),
        max=float(difference.max()) if mine.size else 0.0,
        cosine=_cosine(mine - zero_point, theirs - zero_point),
    )


def _cosine(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    largest = [float(np.abs(each).max()) if each.size else 0.0 for each in (left, right)]
    if not all(map(np.isfinite, largest)):
        return 0.0
    if not all(largest):
        return 1.0 if largest[0] == largest[1] else 0.0
    # Values are divided by the largest first, since the squares of large values would not be finite.
    left, right = left / largest[0], right / largest[1]
    lengths = float(np.sqrt(left @ left) * np.sqrt(right @ right))
    return min(1.0, max(-1.0, float(left @ right) / lengths))
