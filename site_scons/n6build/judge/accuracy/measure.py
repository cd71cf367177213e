"""Figures of an int8 model against its float model, added up sample by sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from n6build.judge.accuracy.figures import Accuracy, OutputFigures, TensorFigures

# More decibels than float32 can show; equal outputs have no noise at all.
MOST_DECIBELS = 150.0
_TOP = 5


@dataclass
class TensorSums:
    """Sums over samples for tensors inside the networks."""

    _sums: dict[str, tuple[float, float]] = field(default_factory=dict)

    def add(self, name: str, real: NDArray[np.generic], int8: NDArray[np.generic]) -> None:
        """Add the values of a tensor, as real numbers."""
        one, other = np.asarray(real, np.float64).ravel(), np.asarray(int8, np.float64).ravel()
        power, noise = self._sums.get(name, (0.0, 0.0))
        self._sums[name] = power + float(one @ one), noise + float((one - other) @ (one - other))

    def figures(self) -> tuple[TensorFigures, ...]:
        """Return the figures of all tensors, the worst one first."""
        found = [TensorFigures(name, decibels(*sums)) for name, sums in self._sums.items()]
        return tuple(sorted(found, key=lambda each: each.sqnr_db))


@dataclass
class Sums:
    """Sums over samples, from which the figures are made.

    Attributes:
        names: Names of the outputs.
    """

    names: Sequence[str]
    _count: int = 0
    _power: list[float] = field(default_factory=list)
    _noise: list[float] = field(default_factory=list)
    _same: list[int | None] = field(default_factory=list)
    _right: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    _labelled: int = 0

    def add(
        self, real: Sequence[NDArray[np.generic]], int8: Sequence[NDArray[np.generic]], label: int | None = None
    ) -> None:
        """Add the outputs of a sample.

        Args:
            real: Outputs of the float model.
            int8: Outputs of the int8 model, as real numbers.
            label: Number of the right class; None without a label.
        """
        if not self._count:
            self._power, self._noise = [0.0] * len(self.names), [0.0] * len(self.names)
            self._same = [0 if has_classes(each.shape) else None for each in real]
        self._count += 1
        for place, (wanted, found) in enumerate(zip(real, int8, strict=True)):
            one, other = _of_one_length(wanted, found)
            self._power[place] += float(one @ one)
            self._noise[place] += float((one - other) @ (one - other))
            same = self._same[place]
            if same is not None:
                self._same[place] = same + int(one.argmax() == other.argmax())
        first = next((place for place, same in enumerate(self._same) if same is not None), None)
        if label is not None and first is not None:
            self._labelled += 1
            for place, outputs in enumerate((real, int8)):
                best = np.argsort(-np.asarray(outputs[first], np.float64).ravel(), kind="stable")
                self._right[place] += int(best[0] == label)
                self._right[place + 2] += int(label in best[:_TOP])

    def figures(self) -> Accuracy:
        """Return the figures of all samples."""
        ratios = (decibels(power, noise) for power, noise in zip(self._power, self._noise, strict=True))
        outputs = tuple(map(OutputFigures, self.names, ratios, self._same))
        float_top1, int8_top1, float_top5, int8_top5 = self._right
        return Accuracy(self._count, outputs, self._labelled, float_top1, int8_top1, float_top5, int8_top5)


def _of_one_length(*values: NDArray[np.generic]) -> list[NDArray[np.float64]]:
    """Return values as lists of one length.

    Selected boxes end with -1, as those of a network do.
    """
    flat = [np.asarray(each, np.float64).ravel() for each in values]
    longest = max(map(len, flat))
    return [np.pad(each, (0, longest - len(each)), constant_values=-1) for each in flat]


def decibels(power: float, noise: float) -> float:
    """Return a ratio of powers in decibels, rounded to a tenth."""
    if noise <= 0:
        return MOST_DECIBELS
    ratio = 10 * math.log10(power / noise) if power > 0 else 0.0
    return round(min(ratio, MOST_DECIBELS), 1)


def has_classes(shape: Sequence[int]) -> bool:
    """Return whether an output is a list with a number for each class."""
    wide = [each for each in shape if each != 1]
    return len(wide) == 1
