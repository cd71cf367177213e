"""Ranges of activations, in little memory, as ONNX Runtime finds them.

The calibrators of percentiles and of entropy keep every activation of every sample, to make one
histogram of all. Here, a first pass finds the limits of each histogram and a second one fills it, one
sample at a time. The histograms, and so the ranges, are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod
from onnxruntime.quantization.calibrate import HistogramCollector, TensorsData, create_calibrator

from n6build.base.regular_file import content_of
from n6build.compile.quantise.samples import Sample
from n6build.compile.quantise.sessions import open_session
from n6build.describe.quantise import Method

_METHODS = {
    "minmax": CalibrationMethod.MinMax,
    "percentile": CalibrationMethod.Percentile,
    "entropy": CalibrationMethod.Entropy,
}
# Defaults of the calibrators, where no calibrator has them.
_BINS = {"percentile": 2048, "entropy": 128}
_QUANTISED_BINS = 128
_PERCENTILE = 99.999
Floats = NDArray[np.floating[Any]]


class _One(CalibrationDataReader):  # type: ignore[misc]
    """A reader with one sample."""

    def __init__(self, sample: Sample) -> None:
        self._rest: list[Sample] = [sample]

    def get_next(self) -> Sample | None:
        return self._rest.pop() if self._rest else None


def ranges_of(
    prepared: Path, operators: Sequence[str], method: Method, samples: Callable[[], Iterable[Sample]], work: Path
) -> TensorsData:
    """Return the range of each activation, as the quantiser takes them.

    Args:
        prepared: File of the prepared float model.
        operators: Operators whose activations count.
        method: Method of calibration.
        samples: Function that begins with the first sample again.
        work: Folder for files.
    """
    augmented = work / "augmented.onnx"
    calibrator = create_calibrator(prepared, operators, str(augmented), _METHODS[method])
    session = calibrator.infer_session = open_session(content_of(augmented))
    if method == "minmax":
        for sample in samples():
            calibrator.collect_data(_One(sample))
        return calibrator.compute_data()
    names = sorted(set(calibrator.tensors_to_calibrate) & {each.name for each in session.get_outputs()})

    def activations() -> Iterator[tuple[str, Floats]]:
        for sample in samples():
            for name, values in zip(names, session.run(names, sample), strict=True):
                yield name, np.asarray(values).ravel()

    calibrator.collector = HistogramCollector(
        calibrator.method,
        calibrator.symmetric,
        calibrator.num_bins,
        calibrator.num_quantized_bins,
        calibrator.percentile,
        calibrator.scenario,
    )
    of_magnitudes = method == "percentile" and bool(calibrator.symmetric)
    calibrator.collector.histogram_dict = _histograms(activations, calibrator.num_bins, of_magnitudes=of_magnitudes)
    return calibrator.compute_data()


def collected_ranges(
    activations: Callable[[], Iterable[tuple[str, Floats]]], method: Method
) -> dict[str, tuple[float, float]]:
    """Return the range of each activation, as the calibrators of ONNX Runtime find it.

    Args:
        activations: Function that yields all activations of all samples.
        method: Method of calibration.
    """
    if method == "minmax":
        found: dict[str, tuple[Any, Any]] = {}
        for name, values in activations():
            found[name] = _finite(name, _wider(found.get(name), values))
    else:
        bins, of_magnitudes = _BINS[method], method == "percentile"
        collector = HistogramCollector(method, of_magnitudes, bins, _QUANTISED_BINS, _PERCENTILE, "same")
        collector.histogram_dict = _histograms(activations, bins, of_magnitudes=of_magnitudes)
        found = {name: (each[0], each[1]) for name, each in collector.compute_collection_result().items()}
    return {name: (float(low), float(high)) for name, (low, high) in found.items()}


def _histograms(
    activations: Callable[[], Iterable[tuple[str, Floats]]], bins: int, *, of_magnitudes: bool
) -> dict[str, tuple[Any, ...]]:
    """Return the histogram of each activation in the collector's form."""
    limits: dict[str, tuple[Any, Any]] = {}
    magnitudes: dict[str, tuple[Any, Any]] = {}
    for name, values in activations():
        limits[name] = _finite(name, _wider(limits.get(name), values))
        if of_magnitudes:
            magnitudes[name] = _wider(magnitudes.get(name), np.abs(values))
    counts: dict[str, Any] = {}
    edges: dict[str, Any] = {}
    for name, values in activations():
        low, high = limits[name]
        threshold = np.array(max(abs(low), abs(high)), dtype=values.dtype)
        span: tuple[Any, Any] = magnitudes[name] if of_magnitudes else (-threshold, threshold)
        found, edges[name] = np.histogram(np.abs(values) if of_magnitudes else values, bins, range=span)
        counts[name] = counts.get(name, 0) + found
    return {
        name: (counts[name], edges[name].astype(low.dtype), low, high)
        if of_magnitudes
        else (counts[name], edges[name], low, high, np.array(max(abs(low), abs(high)), dtype=low.dtype))
        for name, (low, high) in limits.items()
    }


def _finite(name: str, limits: tuple[Any, Any]) -> tuple[Any, Any]:
    if not np.isfinite(limits[1] - limits[0]):
        raise ValueError(f"activation '{name}' of the float model is NaN or infinite")
    return limits


def _wider(known: tuple[Any, Any] | None, values: Floats) -> tuple[Any, Any]:
    """Return the smallest and the largest value, also of those that are known."""
    low, high = values.min(), values.max()
    return (low, high) if known is None else (min(known[0], low), max(known[1], high))
