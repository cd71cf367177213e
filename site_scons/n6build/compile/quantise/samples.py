"""Samples of a model's inputs, read one after another.

Their files may be larger than memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.base.console import kib
from n6build.base.errors import N6Error
from n6build.base.npy import MappedError, mapped
from n6build.base.regular_file import LARGEST_FILE
from n6build.compile.quantise.float_model import Input
from n6build.describe.quantise import LEAST_SAMPLES
from n6build.describe.sample_files import spread

Sample = dict[str, NDArray[Any]]
_SHOWN = 80
# Elements of a sample for a look at whether all are equal.
_FEW = 4096


@dataclass(frozen=True)
class Samples:
    """Samples that are read when they are asked for.

    Attributes:
        name: Name of the file or folder.
        count: Number of samples.
        shapes: Shape of a sample for each input, without the batch.
        read: Function that returns the sample of a number, in the shape of a row.
        names: Name of each sample, for messages.
    """

    name: str
    count: int
    shapes: dict[str, tuple[int, ...]]
    read: Callable[[int], Sample]
    names: Callable[[int], str]

    def spread(self, most: int) -> tuple[int, ...]:
        """Return the numbers of at most this many samples, spread evenly."""
        return spread(range(self.count), most)


def open_samples(files: Sequence[Path], inputs: Sequence[Input]) -> Samples:
    """Open samples without reading their values.

    Args:
        files: A .npy or .npz file, or several .npy files.
        inputs: Inputs of the float model.

    Raises:
        N6Error: N6-QUANT-005 for files that are no samples of these inputs.
    """
    first = files[0]
    if len(inputs) > 1 or first.suffix == ".npz":
        return _of_several(files, inputs)
    name = inputs[0].name
    arrays = [(path, _open(path)) for path in files]
    rank = len(inputs[0].shape)
    # A file of a folder may be one sample, a file alone has a row for each.
    rows = [(path, array if _has_rows(array, rank, alone=len(files) == 1) else array[None]) for path, array in arrays]
    starts = np.cumsum([0, *(len(array) for _, array in rows)])

    def at(number: int) -> tuple[Path, NDArray[Any]]:
        place = int(np.searchsorted(starts, number, side="right")) - 1
        path, array = rows[place]
        return path, array[number - starts[place]]

    def shown(number: int) -> str:
        path, _ = at(number)
        return path.name if len(files) > 1 else f"{path.name}[{number}]"

    count = int(starts[-1])
    shape = tuple(rows[0][1].shape[1:])
    return Samples(
        first.name if len(files) == 1 else first.parent.name, count, {name: shape}, lambda n: {name: at(n)[1]}, shown
    )


def _has_rows(array: NDArray[Any], rank: int, *, alone: bool) -> bool:
    """Return whether an array has a row for each sample."""
    return array.ndim >= rank + (0 if alone else 1) or (alone and array.ndim >= 2)


def _of_several(files: Sequence[Path], inputs: Sequence[Input]) -> Samples:
    path = files[0]
    names = ", ".join(f"'{each.name[:_SHOWN]}'" for each in inputs)
    if len(files) > 1 or path.suffix != ".npz":
        what = f"the model has {len(inputs)} inputs, {names}"
        hint = "write one .npz file: numpy.savez('samples.npz', **{'input name': array with a row for each sample})"
        raise N6Error("N6-QUANT-005", what, where=path.name, hint=hint)
    try:
        with np.load(path, allow_pickle=False) as found:
            arrays = {name: np.asarray(found[name]) for name in found.files}
    except (OSError, ValueError, KeyError, EOFError, NotImplementedError) as error:
        raise N6Error("N6-QUANT-005", f"is not a valid .npz file: {error}", where=path.name) from error
    missing = [each.name for each in inputs if each.name not in arrays]
    if missing:
        has = ", ".join(sorted(arrays)) or "nothing"
        what = f"has no array for input '{missing[0][:_SHOWN]}', but {has[:200]}"
        raise N6Error("N6-QUANT-005", what, where=path.name, hint=f"name the arrays as the inputs: {names}")
    counts = {len(arrays[each.name]) if arrays[each.name].ndim else 0 for each in inputs}
    if len(counts) > 1:
        what = f"has arrays of {min(counts)} and {max(counts)} rows"
        raise N6Error("N6-QUANT-005", what, where=path.name, hint="give as many rows for each input")
    shapes = {each.name: tuple(arrays[each.name].shape[1:]) for each in inputs}
    return Samples(
        path.name,
        counts.pop(),
        shapes,
        lambda number: {each.name: arrays[each.name][number] for each in inputs},
        lambda number: f"{path.name}[{number}]",
    )


def _open(path: Path) -> NDArray[Any]:
    try:
        return mapped(path)
    except MappedError as error:
        if path.stat().st_size > LARGEST_FILE:
            what = f"has {kib(path.stat().st_size)}, and a file may have {kib(LARGEST_FILE)}"
            hint = "save the samples as several .npy files in a folder: they are read one after another"
            raise N6Error("N6-QUANT-005", what, where=path.name, hint=hint) from error
        raise N6Error("N6-QUANT-005", f"is not a valid NumPy array: {error}", where=path.name) from error


def check_samples(samples: Samples, inputs: Sequence[Input], most: int) -> None:
    """Check number, shape, type and values of samples, one after another.

    Args:
        samples: The samples.
        inputs: Inputs of the model with fixed shapes.
        most: Number of samples that are used.

    Raises:
        N6Error: N6-QUANT-005 for another shape or type; N6-QUANT-006 for too few, equal or infinite ones.
    """
    if samples.count < LEAST_SAMPLES:
        what = f"has {samples.count} samples, fewer than {LEAST_SAMPLES}"
        hint = "give about 100 inputs like those of the network in use"
        raise N6Error("N6-QUANT-006", what, where=samples.name, hint=hint)
    seen: set[bytes] = set()
    for number in samples.spread(most):
        for port, values in fitted(samples, number, inputs).items():
            if not np.isfinite(values).all():
                bad = "NaN" if np.isnan(values).any() else "infinite"
                what = f"has a value that is {bad} for input '{port[:_SHOWN]}'"
                raise N6Error("N6-QUANT-006", what, where=samples.names(number), hint="remove the sample or correct it")
            if len(seen) < 2:
                seen.add(values.tobytes()[:_FEW] if len(inputs) > 1 else values.tobytes())
    if len(seen) < 2:
        hint = "give different inputs: the ranges of one show nothing of others"
        raise N6Error("N6-QUANT-006", "has only equal samples", where=samples.name, hint=hint)


def fitted(samples: Samples, number: int, inputs: Sequence[Input]) -> Sample:
    """Return a sample in the shapes and types of the inputs.

    Raises:
        N6Error: N6-QUANT-005 if it does not fit.
    """
    found = samples.read(number)
    return {each.name: _fitting(found[each.name], each, samples.names(number)) for each in inputs}


def _fitting(values: NDArray[Any], port: Input, where: str) -> NDArray[Any]:
    if values.size != math.prod(port.shape) or not _fits(values.shape, port.shape):
        what = f"has the shape {_shown(values.shape)}, but input '{port.name[:_SHOWN]}' takes {_shown(port.shape)}"
        raise N6Error("N6-QUANT-005", what, where=where, hint=_remedy(values.shape, port.shape))
    if values.dtype.kind != np.dtype(port.dtype).kind and not (values.dtype.kind == "f" and port.dtype == "float32"):
        what = f"has values of type {values.dtype.name}, but input '{port.name[:_SHOWN]}' takes {port.dtype}"
        hint = "store the values as the network gets them, for example (pictures / 255).astype(numpy.float32)"
        raise N6Error("N6-QUANT-005", what, where=where, hint=hint)
    return np.ascontiguousarray(values, dtype=port.dtype).reshape(port.shape)


def as_stored(values: NDArray[np.generic], dtype: str, scale: float, zero_point: int) -> NDArray[np.generic]:
    """Return real values in the type of an input.

    Args:
        values: The values.
        dtype: Type of the input. Values of a float32 input stay as they are.
        scale: Scale of the input.
        zero_point: Zero point of the input.
    """
    if dtype == "float32" or values.dtype.kind != "f":
        return values.astype(dtype)
    kind = np.dtype(dtype)
    limits = np.iinfo(kind)
    steps = np.rint(values.astype(np.float64) / scale) + zero_point
    made: NDArray[np.generic] = np.clip(steps, limits.min, limits.max).astype(kind)
    return made


def _fits(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Return whether shapes are equal without dimensions of one element."""
    return [each for each in shape if each != 1] == [each for each in wanted if each != 1]


def _remedy(shape: Sequence[int], wanted: Sequence[int]) -> str:
    row, want = [each for each in shape if each != 1], [each for each in wanted if each != 1]
    if len(row) == len(want) == 3 and [row[2], *row[:2]] == want:
        return "channels are last in the samples, first in the model: samples.transpose(0, 3, 1, 2)"
    if len(row) == len(want) == 3 and [*row[1:], row[0]] == want:
        return "channels are first in the samples, last in the model: samples.transpose(0, 2, 3, 1)"
    return "give a row in the input's shape for each sample, without the batch"


def _shown(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) or "a number"


def rows(samples: Samples, inputs: Sequence[Input], most: int) -> Iterator[Sample]:
    """Yield at most this many samples, spread evenly.

    They have the shapes and types of the inputs.
    """
    for number in samples.spread(most):
        yield fitted(samples, number, inputs)
