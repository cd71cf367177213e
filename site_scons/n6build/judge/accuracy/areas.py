"""Segmentation: labels that are pictures of class numbers, and the mean IoU."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.base.npy import MappedError, mapped
from n6build.base.pictures import open_numbers, require_pillow
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.postprocess import Postprocess
from n6build.describe.preprocess import Preprocess
from n6build.describe.sample_files import PICTURES
from n6build.judge.accuracy.figures import AreaFigures
from n6build.judge.accuracy.jobs import AccuracyJob
from n6build.judge.postprocess.decode import pixel_classes
from n6build.judge.postprocess.found import Decoded
from n6build.judge.postprocess.layout import Layout, area_names, layout_of

# Pixels without a label, as in Pascal VOC.
NO_LABEL = 255
_OF_PICTURE = 3  # axes of an output, without the batch
_SHOWN = 200
Pixels = NDArray[np.integer]


def has_pixel_labels(files: Sequence[Path]) -> bool:
    """Return whether labels are pictures, or an array of them."""
    if not files or files[0].suffix.lower() in PICTURES:
        return bool(files)
    try:
        return files[0].suffix == ".npy" and np.squeeze(mapped(files[0])).ndim == len(("sample", "row", "pixel"))
    except MappedError:
        return False


def area_sums(job: AccuracyJob, names: Sequence[str], shapes: Sequence[Sequence[int]], count: int) -> AreaSums | None:
    """Return sums for the output with a class for each pixel; None if there is none.

    It is described by model.yaml. If the labels are pictures, an output's shape is enough.

    Args:
        job: The measurement.
        names: Names of the outputs.
        shapes: Shapes of the outputs.
        count: Number of samples.

    Raises:
        N6Error: N6-CHECK-042 if the output does not fit the classes; N6-QUANT-012 for labels that do not fit.
    """
    labels = [Path(each) for each in job.labels]
    described = job.postprocess if job.postprocess and job.postprocess.decoder == "segmentation" else None
    labelled = has_pixel_labels(labels)
    if not described and not labelled:
        return None
    place = next((place for place, shape in enumerate(shapes) if len(_plain(shape)) == _OF_PICTURE), None)
    if place is None:
        shown = ", ".join(f"{name} {' x '.join(map(str, shape))}" for name, shape in zip(names, shapes, strict=True))
        what = f"labels are pictures, but no output has a class for each pixel: {shown[:_SHOWN]}"
        hint = "give a class for each sample in quantise.labels, or name the output in quantise.outputs"
        raise N6Error("N6-QUANT-012", what, where=labels[0].name if labels else "postprocess.decoder", hint=hint)
    shape = tuple(shapes[place])
    port = IoBuffer(names[place], None, 4 * math.prod(shape), "float32", shape, 1.0, 0)
    layout = layout_of(described or Postprocess("segmentation"), (), (port,), job.classes)
    read = area_labels(labels, [Path(each) for each in job.samples], count, job.preprocess) if labelled else None
    return AreaSums(layout, place, read)


def _plain(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(shape[1:]) if len(shape) > 1 and shape[0] == 1 else tuple(shape)


def area_labels(
    files: Sequence[Path], samples: Sequence[Path], count: int, how: Preprocess
) -> Callable[[int, Layout], Pixels]:
    """Return a function that reads the label of each pixel of a sample, row by row.

    Args:
        files: Pictures with the names of the samples, or an array with a row for each sample.
        samples: Files with samples.
        count: Number of samples.
        how: Pre-processing of the samples, which their labels follow.

    Raises:
        N6Error: N6-QUANT-012 if they do not fit.
    """
    if files[0].suffix == ".npy":
        return _of_array(files[0], count)
    by_name = {each.stem: each for each in files}
    lost = next((each.name for each in samples if each.stem not in by_name), None)
    if lost or len(samples) != count or len({each.stem for each in samples}) < count:
        what = f"there is no label for sample '{lost or samples[0].name}', or two have the same name"
        hint = "name each label like the picture that it belongs to; for an array of samples, give an array of labels"
        raise N6Error("N6-QUANT-012", what, where=files[0].parent.name, hint=hint)
    return lambda number, layout: _of_picture(by_name[samples[number].stem], layout, how)


def _of_array(path: Path, count: int) -> Callable[[int, Layout], Pixels]:
    try:
        array = mapped(path)
    except MappedError as error:
        raise N6Error("N6-QUANT-012", f"is not a valid NumPy array: {error}", where=path.name) from error
    if array.dtype.kind not in "iu" or len(array) != count:
        what = f"has {len(array)} rows of type {array.dtype.name}, but there are {count} samples"
        hint = "save whole numbers of shape samples x height x width"
        raise N6Error("N6-QUANT-012", what, where=path.name, hint=hint)

    def read(number: int, layout: Layout) -> Pixels:
        row = np.squeeze(array[number])
        width, height = layout.area
        if row.shape != (height, width):
            what = f"has labels of {' x '.join(map(str, row.shape))} pixels, but the output has {height} x {width}"
            raise N6Error("N6-QUANT-012", what, where=path.name, hint="save a label for each pixel of the output")
        return _checked(row.astype(np.int64).ravel(), layout, f"{path.name}[{number}]")

    return read


def _of_picture(path: Path, layout: Layout, how: Preprocess) -> Pixels:
    pillow = require_pillow()
    try:
        picture = open_numbers(path)
    except N6Error as error:
        raise N6Error("N6-QUANT-012", error.what, where=path.name, hint=error.hint) from error
    if picture.size != layout.area:
        # A label follows its picture, without new numbers between those of neighbours.
        nearest = pillow.Image.Resampling.NEAREST
        if how.resize == "crop":
            picture = pillow.ImageOps.fit(picture, layout.area, nearest)
        elif how.resize == "fit":
            picture = pillow.ImageOps.pad(picture, layout.area, nearest, color=NO_LABEL)
        else:
            picture = picture.resize(layout.area, nearest)
    return _checked(np.asarray(picture, np.int64).ravel(), layout, path.name)


def _checked(pixels: Pixels, layout: Layout, where: str) -> Pixels:
    count = len(area_names(layout))
    wrong = pixels[((pixels < 0) | (pixels >= count)) & (pixels != NO_LABEL)]
    if wrong.size:
        what = f"has the class {wrong[0]}, but classes are numbered from 0 to {count - 1}"
        hint = f"number the pixels as the network does; {NO_LABEL} means a pixel without a label"
        raise N6Error("N6-QUANT-012", what, where=where, hint=hint)
    return pixels


@dataclass
class IouSums:
    """Pixels of each class that two models, or a model and labels, have in common.

    Attributes:
        classes: Number of classes.
    """

    classes: int
    _both: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self._both = np.zeros((self.classes, self.classes), np.int64)

    def add(self, labels: Pixels, found: Pixels) -> None:
        """Add pixels with their classes."""
        pairs = labels * self.classes + found
        self._both += np.bincount(pairs, minlength=self.classes**2).reshape(self._both.shape)

    @property
    def pixels(self) -> int:
        """Return the number of pixels with a label."""
        return int(self._both.sum())

    @property
    def same(self) -> float:
        """Return the share of pixels of the same class, in percent."""
        return 100 * float(np.trace(self._both)) / max(self.pixels, 1)

    @property
    def mean(self) -> float:
        """Return the mean of the IoU of all classes that occur, in percent."""
        inside = np.diag(self._both)
        either = self._both.sum(0) + self._both.sum(1) - inside
        occurs = either > 0
        return 100 * float((inside[occurs] / either[occurs]).mean()) if occurs.any() else 0.0


@dataclass
class AreaSums:
    """Sums over samples for an output with a class for each pixel.

    Attributes:
        layout: Layout of the output.
        output: Number of the output.
        read: Function that reads the label of each pixel of a sample, as of `area_labels`; None without labels.
    """

    layout: Layout
    output: int
    read: Callable[[int, Layout], Pixels] | None
    _of_float: IouSums = field(init=False)
    _of_int8: IouSums = field(init=False)
    _between: IouSums = field(init=False)

    def __post_init__(self) -> None:
        self._of_float, self._of_int8, self._between = (IouSums(len(area_names(self.layout))) for _ in range(3))

    def add(self, number: int, real: Sequence[NDArray[np.generic]], int8: Sequence[NDArray[np.generic]]) -> None:
        """Add the outputs of a sample.

        Args:
            number: Number of the sample.
            real: Outputs of the float model.
            int8: Outputs of the int8 model, as real numbers.
        """
        one, other = (pixel_classes(self.layout, [outputs[self.output]]) for outputs in (real, int8))
        self._between.add(one, other)
        if self.read:
            labels = self.read(number, self.layout)
            known = labels != NO_LABEL
            self._of_float.add(labels[known], one[known])
            self._of_int8.add(labels[known], other[known])

    def figures(self) -> AreaFigures:
        """Return the figures of all samples."""
        return AreaFigures(
            self.layout.outputs[0].name,
            round(self._between.same, 2),
            self._of_int8.pixels,
            round(self._of_float.mean, 2),
            round(self._of_int8.mean, 2),
        )


def mean_iou(
    layout: Layout, found: Sequence[Decoded], labels: Sequence[Path], pictures: Sequence[Path], how: Preprocess
) -> float:
    """Return the mean IoU of decoded areas and labels, in percent.

    Args:
        layout: Layout of the areas.
        found: Areas of each inference.
        labels: Pictures with the right class of each pixel.
        pictures: Picture of each inference, used in turn.
        how: Pre-processing of the pictures.

    Raises:
        N6Error: N6-QUANT-012 for labels that do not fit.
    """
    read = area_labels(labels, pictures, len(pictures), how)
    sums = IouSums(len(area_names(layout)))
    for number, each in enumerate(found):
        wanted = read(number % len(pictures), layout)
        if each.mask:
            classes, lengths = np.array(each.mask, np.int64).T
            known = wanted != NO_LABEL
            sums.add(wanted[known], np.repeat(classes, lengths)[known])
    return round(sums.mean, 2)
