"""Figures of an int8 model against its float model, added up sample by sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# More decibels than float32 can show; equal outputs have no noise at all.
MOST_DECIBELS = 150.0
_TOP = 5


@dataclass(frozen=True)
class OutputFigures:
    """Figures of one output.

    Attributes:
        name: Name of the output.
        sqnr_db: Power of the float output over that of the difference, in decibels.
        same: Number of samples whose largest element is the same; None if the output has no classes.
    """

    name: str
    sqnr_db: float
    same: int | None


@dataclass(frozen=True)
class TensorFigures:
    """Figures of a tensor inside the networks.

    Attributes:
        name: Name of the tensor.
        sqnr_db: Power of the float tensor over that of the difference, in decibels.
    """

    name: str
    sqnr_db: float


@dataclass(frozen=True)
class Accuracy:
    """Figures of an int8 model.

    Attributes:
        count: Number of samples.
        outputs: Figures of each output.
        labelled: Number of samples with a label.
        float_top1: Samples for which the float model is right.
        int8_top1: Samples for which the int8 model is right.
        float_top5: Samples with the right class among the float model's first five.
        int8_top5: Samples with the right class among the int8 model's first five.
        tensors: Figures of the tensors that both models have, the worst one first.
    """

    count: int
    outputs: tuple[OutputFigures, ...]
    labelled: int = 0
    float_top1: int = 0
    int8_top1: int = 0
    float_top5: int = 0
    int8_top5: int = 0
    tensors: tuple[TensorFigures, ...] = ()

    @property
    def drop(self) -> float | None:
        """Return the loss in percentage points, None without labels and classes.

        Without labels, it is the share of samples of another class than the float model's.
        """
        if self.labelled:
            return 100 * (self.float_top1 - self.int8_top1) / self.labelled
        agreed = [each.same for each in self.outputs if each.same is not None]
        return 100 * (1 - min(agreed) / self.count) if agreed and self.count else None


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
            one, other = np.asarray(wanted, np.float64).ravel(), np.asarray(found, np.float64).ravel()
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
