"""Judgement of an epoch by the errors that its own arithmetic may cause.

An element may be as far from the unrounded number of the model as all earlier roundings of the epoch
together, and half a step for the last one. A damaged weight or constant moves many elements of a channel
in one direction: a few within that distance are an accident, many are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Scales of the model are float32 numbers, those of the NPU have 16 bits: a thousandth of a step is equal.
_EQUAL = 0.002
# Saturation of a 16-bit sum or product may move this share of good results further.
_SATURATED = 1 / 2000
# Good networks differ in up to 1.1 of the expected share; the rest is for ties and for small tensors.
_FACTOR, _SHARE = 1.5, 0.003
# Standard deviations. 1e5 channels of a good network have one beyond 4.5 by chance.
_CHANCE = 5.0
# Fewer elements of a channel are no proof.
_FEWEST = 8


@dataclass(frozen=True)
class ExpectedError:
    """The error of an epoch's results in front of their last rounding, in steps.

    Attributes:
        expected: Mean distance, which is the share of elements that differ from the reference.
        furthest: Largest distance.
        relative: Largest relative error of a factor.
        zero_point: Value from which the relative error counts.
        tilt: Largest mean of the error.
    """

    expected: float
    furthest: float
    relative: float
    zero_point: float
    tilt: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """The judgement of a buffer.

    Attributes:
        outside: Number of elements further off than roundings explain.
        furthest: Largest distance that roundings explain, in steps.
        why: The reason why the buffer is wrong; empty if it is good.
    """

    outside: int
    furthest: float
    why: str


def judge_epoch(
    made: NDArray[np.generic],
    wanted: NDArray[np.generic],
    error: ExpectedError,
    exact: NDArray[np.floating] | None = None,
    channels: NDArray[np.integer] | None = None,
) -> Verdict:
    """Judge the results of an epoch.

    Args:
        made: Results of the NPU.
        wanted: Results of the reference interpreter.
        error: Errors of the epoch's own arithmetic.
        exact: Results of the model before their last rounding; None if they are unknown.
        channels: Channel of each element; None if it is unknown.
    """
    mine = made.reshape(-1).astype(np.float64)
    real = (wanted if exact is None else exact).reshape(-1).astype(np.float64)
    limit = error.furthest + error.relative * np.abs(real - error.zero_point) + _EQUAL
    # Without the unrounded number, both roundings may go apart.
    limit = np.ceil(limit) if exact is None else limit + 0.5
    # An epoch that copies a rounded tensor has its errors, not those of the number in front of the rounding.
    same = mine == wanted.reshape(-1)
    outside = int(((np.abs(mine - real) > limit) & ~same).sum())
    difference = np.where(same, 0.0, mine - np.rint(real))
    why = _too_far(outside, mine.size, error) or _too_many(difference, real, channels, error)
    if not why and exact is not None and channels is not None:
        why = _one_sided(difference, real, channels.reshape(-1), error)
    return Verdict(outside, error.furthest, why)


def _too_far(outside: int, count: int, error: ExpectedError) -> str:
    if outside <= int(count * _SATURATED):
        return ""
    return f"{outside} of {count} elements are further off than its roundings explain ({error.furthest:.2f} steps)"


def _too_many(
    difference: NDArray[np.float64],
    real: NDArray[np.float64],
    channels: NDArray[np.integer] | None,
    error: ExpectedError,
) -> str:
    differs = difference != 0
    if channels is not None:
        differs = differs[_different(real, channels.reshape(-1))]
    found, count = int(differs.sum()), differs.size
    # Of the factors of all channels, the mean is off by half as much as the worst.
    moved = error.relative * float(np.abs(real - error.zero_point).mean()) / 2 if count else 0.0
    share = min(1.0, _FACTOR * error.expected + moved + _SHARE)
    if found <= count * share + _CHANCE * math.sqrt(count * share) + 1:
        return ""
    return f"{100 * found / count:.2f} % of its elements differ where its roundings explain {100 * share:.2f} %"


def _one_sided(
    difference: NDArray[np.float64],
    real: NDArray[np.float64],
    channels: NDArray[np.integer],
    error: ExpectedError,
) -> str:
    """Return the reason if the elements of a channel differ in one direction."""
    places = _different(real, channels)
    channels = channels[places]
    sums = np.bincount(channels, difference[places])
    often = np.bincount(channels, difference[places] != 0)
    # A rounded factor moves all results of a channel by a share of their size.
    moved = np.bincount(channels, error.relative * np.abs(real[places] - error.zero_point) + error.tilt + _EQUAL)
    surplus = np.abs(sums) - moved - _CHANCE * np.sqrt(often) - _FEWEST
    worst = int(surplus.argmax()) if surplus.size else 0
    if not surplus.size or surplus[worst] <= 0:
        return ""
    count = int((channels == worst).sum())
    return (
        f"{int(often[worst])} of {count} elements of channel {worst} differ, nearly all in one direction: "
        f"by {abs(sums[worst]) / count:.3f} steps in the mean"
    )


def _different(real: NDArray[np.float64], channels: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return places of different numbers in each channel.

    Equal inputs give equal results, right or wrong: a picture's black border counts once.
    """
    order = np.lexsort((real, channels))
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(real[order]) != 0) | (np.diff(channels[order]) != 0)
    return order[first]
