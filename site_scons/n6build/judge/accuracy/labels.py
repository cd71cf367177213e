"""Labels of samples: the number of the right class of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import read_at_most
from n6build.base.npy import array_of

_MOST_BYTES = 64 << 20
_SHOWN = 80


def read_labels(path: Path, classes: Sequence[str], count: int) -> list[int]:
    """Read the label of each sample.

    Args:
        path: A .npy file of integers, or a text file with a class in each line, by name or number.
        classes: Names of the classes; empty if only numbers are known.
        count: Number of samples.

    Raises:
        N6Error: N6-QUANT-012 if they do not fit; N6-FILE-00x.
    """
    data = read_at_most(path, _MOST_BYTES)
    labels = _of_npy(data, path) if path.suffix == ".npy" else _of_lines(data, classes, path)
    if len(labels) != count:
        what = f"has {len(labels)} labels, but there are {count} samples"
        raise N6Error("N6-QUANT-012", what, where=path.name, hint="give a label for each sample, in the samples' order")
    wrong = [number for number in labels if not 0 <= number < (len(classes) or number + 1)]
    if wrong:
        what = f"has the label {wrong[0]}, but classes are numbered from 0 to {len(classes) - 1}"
        raise N6Error("N6-QUANT-012", what, where=path.name, hint="correct the labels, or classes in model.yaml")
    return labels


def folder_labels(files: Sequence[Path], classes: Sequence[str]) -> list[int]:
    """Return the label of each file: the number of the class that its folder names.

    Args:
        files: Files in folders with the names of classes.
        classes: Names of the classes; if empty, those of the folders in alphabetical order.

    Raises:
        N6Error: N6-QUANT-012 for a folder that is no class.
    """
    known = list(classes) or sorted({file.parent.name for file in files})
    labels = []
    for file in files:
        if file.parent.name not in known:
            what = f"folder '{file.parent.name[:_SHOWN]}' is not a class of this model"
            raise N6Error("N6-QUANT-012", what, where=file.name, hint=did_you_mean(file.parent.name, known))
        labels.append(known.index(file.parent.name))
    return labels


def _of_npy(data: bytes, path: Path) -> list[int]:
    try:
        array = array_of(data)
        if array.dtype.kind not in "iu" or array.squeeze().ndim > 1:
            raise ValueError(f"has values of type {array.dtype.name} and shape {list(array.shape)}")
    except ValueError as error:
        what = f"is not an array with the number of a class for each sample: {error}"
        raise N6Error(
            "N6-QUANT-012", what, where=path.name, hint="save integers: numpy.save('labels.npy', labels)"
        ) from error
    return [int(each) for each in np.ravel(array)]


def _of_lines(data: bytes, classes: Sequence[str], path: Path) -> list[int]:
    labels = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines()):
        word = line.strip()
        if word in classes:
            labels.append(classes.index(word))
        elif word.isascii() and word.isdigit() and len(word) < 10:
            labels.append(int(word))
        elif word:
            what = f"'{word[:_SHOWN]}' is not a class of this model"
            hint = (
                did_you_mean(word, classes) if classes else "add the names of the classes to model.yaml: classes: [...]"
            )
            raise N6Error("N6-QUANT-012", what, where=f"{path.name}:{number + 1}", hint=hint)
    return labels
