"""How far values are from those of the reference interpreter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Measure:
    """elements: of the tensor. equal, within_1: how many of them equal the reference, or differ by at most one step. max: the
    largest difference, in steps. cosine: of the angle between both, taken from the zero point; 1 for two zero tensors, 0 for one,
    or where a value is not a number."""

    elements: int
    equal: int
    within_1: int
    max: float
    cosine: float

    @property
    def equal_share(self) -> float:
        """0 to 1."""
        return self.equal / self.elements if self.elements else 1.0

    @property
    def within_1_share(self) -> float:
        """0 to 1."""
        return self.within_1 / self.elements if self.elements else 1.0


def measure(got: NDArray[np.generic], wanted: NDArray[np.generic], zero_point: float, *, step: float = 1.0) -> Measure:
    """Of two tensors with the same number of elements, in the same order. zero_point: of both. step: the difference that counts
    as 1: 1 for integers, the scale of the quantised values behind floating-point ones. Raises ValueError for different sizes."""
    if got.size != wanted.size:
        raise ValueError(f"{got.size} elements against {wanted.size}")
    # float64 holds every integer of 32 bits and every float32.
    mine, theirs = (np.asarray(each).reshape(-1).astype(np.float64) for each in (got, wanted))
    same = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where(same, 0.0, np.abs(mine - theirs) / step)
    difference[np.isnan(difference)] = np.inf
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
    # Divided by the largest first: the squares of large values would not be finite.
    left, right = left / largest[0], right / largest[1]
    lengths = float(np.sqrt(left @ left) * np.sqrt(right @ right))
    return min(1.0, max(-1.0, float(left @ right) / lengths))
