"""A float model and its int8 model on the same inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.compile.quantise.float_model import MAX_BYTES, first_line
from n6build.compile.quantise.opened_model import Opened, opened
from n6build.compile.quantise.samples import Sample, Samples, as_stored, fitted
from n6build.compile.quantise.sessions import FloatSession, TfliteSession
from n6build.judge.accuracy.areas import area_sums, has_pixel_labels
from n6build.judge.accuracy.figures import Accuracy, OutputFigures, TensorFigures
from n6build.judge.accuracy.jobs import AccuracyJob
from n6build.judge.accuracy.labels import folder_labels, read_labels
from n6build.judge.compare.onnx_interpreter import OnnxModel
from n6build.judge.compare.tflite_interpreter import TfliteModel

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


# Tensors inside are compared on this many samples: all of them take time and memory.
_SAMPLES_INSIDE = 16


def measured(job: AccuracyJob) -> Accuracy:
    """Run both models on the samples, the int8 one by the reference interpreter.

    Raises:
        N6Error: N6-QUANT-005 to N6-QUANT-012.
    """
    file = Path(job.float_model)
    found = opened(file, [Path(each) for each in job.samples], job.settings, job.preprocess)
    try:
        real, int8 = _interpreters(found.model, Path(job.int8_model))
    except Exception as error:  # The library raises errors of many kinds.
        what = f"the interpreter refuses the model: {first_line(error)}"
        raise N6Error("N6-QUANT-008", what, where=Path(job.int8_model).name) from error
    ports = int8.output_ports()
    sums = Sums(real.outputs)
    labels = _labels(job, found.samples, _classes([each.shape for each in ports]))
    areas = area_sums(job, real.outputs, [each.shape for each in ports], found.samples.count)
    for number in found.samples.spread(job.settings.most):
        sample = fitted(found.samples, number, found.inputs)
        wanted = real.run(sample)
        int8.run([as_stored(sample[each.name], each.type, each.scale, each.zero_point) for each in int8.inputs()])
        got = [_real(values, port.scale, port.zero_point) for values, port in zip(int8.outputs(), ports, strict=True)]
        sums.add(wanted, got, None if labels is None else labels[number])
        if areas:
            areas.add(number, wanted, got)
    inside = _inside(found, Path(job.int8_model), job.settings.most)
    return replace(sums.figures(), tensors=inside, areas=areas.figures() if areas else None)


def _inside(found: Opened, file: Path, most: int) -> tuple[TensorFigures, ...]:
    """Return the figures of tensors inside, on the first of the samples."""
    data, lite = read_at_most(file, MAX_BYTES), file.suffix == ".tflite"
    int8 = TfliteModel(data, all_tensors=True) if lite else OnnxModel(data, all_tensors=True)
    real: Callable[[Sample, Collection[str]], Iterable[tuple[str, NDArray[np.generic]]]] | None = None
    sums = TensorSums()
    for number in found.samples.spread(min(most, _SAMPLES_INSIDE)):
        sample = fitted(found.samples, number, found.inputs)
        int8.run([as_stored(sample[each.name], each.type, each.scale, each.zero_point) for each in int8.inputs()])
        # In ONNX, a tensor has the name of the real numbers that were quantised.
        tensors = {each.real or each.name: each for each in int8.tensors() if each.operator != "input"}
        real = real or _float_tensors(found.model, tensors, lite=lite)
        for name, values in real(sample, tensors):
            each = tensors[name]
            if values.dtype.kind == "f" and values.size == each.values.size:
                sums.add(name, values, _real(each.values, each.scale, each.zero_point))
    return sums.figures()


def _float_tensors(
    model: bytes, names: Collection[str], *, lite: bool
) -> Callable[[Sample, Collection[str]], Iterable[tuple[str, NDArray[np.generic]]]]:
    """Return a function that yields the named tensors of the float model for a sample."""
    if lite:
        inside = TfliteSession(model, all_tensors=True)
        return lambda sample, wanted: (inside.run(sample), inside.tensors(wanted))[1]
    session = FloatSession(model, names)
    return lambda sample, wanted: (
        pair for pair in zip(session.outputs, session.run(sample), strict=True) if pair[0] in wanted
    )


def _interpreters(real: bytes, int8: Path) -> tuple[FloatSession | TfliteSession, OnnxModel | TfliteModel]:
    data = read_at_most(int8, MAX_BYTES)
    if int8.suffix == ".tflite":
        return TfliteSession(real), TfliteModel(data, all_tensors=False)
    return FloatSession(real), OnnxModel(data, all_tensors=False)


def _classes(shapes: Sequence[Sequence[int]]) -> int:
    """Return the number of classes of the first output that has some, or 0."""
    return next((math.prod(each) for each in shapes if has_classes(each)), 0)


def _labels(job: AccuracyJob, samples: Samples, classes: int) -> list[int] | None:
    """Return the class of each sample, or None without labels of this kind."""
    labels, files = ([Path(each) for each in names] for names in (job.labels, job.samples))
    if labels:
        names = [samples.names(number) for number in range(samples.count)]
        return None if has_pixel_labels(labels) else read_labels(labels[0], job.classes, names, classes)
    # Without names of the classes, folders of another number sort the samples by something else.
    by_folder = job.by_folder and (job.classes or len({each.parent for each in files}) == classes)
    return folder_labels(files, job.classes) if by_folder else None


def _real(values: NDArray[np.generic], scale: float, zero_point: int) -> NDArray[np.generic]:
    if values.dtype.kind == "f":
        return values
    return (np.asarray(values, np.float64) - zero_point) * scale
