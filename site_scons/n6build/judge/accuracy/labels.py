"""Labels of samples: the number of the right class of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import read_at_most
from n6build.base.npy import array_of

_MOST_BYTES = 64 << 20
_SHOWN = 80
_DIGITS = 10
_BETWEEN = re.compile("[,;\t]")


def read_labels(path: Path, names: Sequence[str], samples: Sequence[str], classes: int) -> list[int]:
    """Read the label of each sample.

    Args:
        path: A .npy file of integers, or a text file with a class in each line, by name or number. A .csv file may have
            the name of a sample before each class.
        names: Names of the classes; empty if only numbers are known.
        samples: Names of the samples.
        classes: Number of classes of the network, 0 if it has none.

    Raises:
        N6Error: N6-QUANT-012 if they do not fit; N6-FILE-00x.
    """
    if not classes:
        hint = "omit quantise.labels, or give pictures with the class of each pixel"
        raise N6Error("N6-QUANT-012", "has classes, but no output of the network has", where=path.name, hint=hint)
    data, count = read_at_most(path, _MOST_BYTES), len(samples)
    if path.suffix == ".npy":
        labels = _of_npy(data, path)
    else:
        lines = [line.strip() for line in data.decode("utf-8-sig", "replace").splitlines()]
        cells = [[cell.strip() for cell in _BETWEEN.split(line)] for line in lines if line]
        is_table = path.suffix == ".csv" and bool(cells) and len(cells[0]) > 1
        labels = _of_table(cells, names, samples, path) if is_table else _of_lines(lines, names, path)
    if len(labels) != count:
        what = f"has {len(labels)} labels, but there are {count} samples"
        raise N6Error("N6-QUANT-012", what, where=path.name, hint="give a label for each sample, in the samples' order")
    last = (len(names) or classes) - 1
    wrong = [number for number in labels if not 0 <= number <= last]
    if wrong:
        what = f"has the label {wrong[0]}, but classes are numbered from 0 to {last}"
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


def _of_lines(lines: Sequence[str], classes: Sequence[str], path: Path) -> list[int]:
    return [_class(word, classes, f"{path.name}:{number}") for number, word in enumerate(lines, 1) if word]


def _of_table(cells: Sequence[Sequence[str]], classes: Sequence[str], samples: Sequence[str], path: Path) -> list[int]:
    """Return the class beside the name of each sample."""
    known = {Path(row[0]).name: row[1] for row in cells if len(row) > 1}
    lost = next((name for name in samples if name not in known), None)
    if lost is not None or len(set(samples)) < len(samples):
        what = (
            f"has no line for sample '{lost[:_SHOWN]}'" if lost else "names files, but two samples have the same name"
        )
        hint = "write the name of a file and its class into each line, for example 1.png,cat"
        raise N6Error("N6-QUANT-012", what, where=path.name, hint=hint)
    return [_class(known[name], classes, f"{path.name}, {name}") for name in samples]


def _class(word: str, classes: Sequence[str], where: str) -> int:
    if word in classes:
        return classes.index(word)
    if word.isascii() and word.isdigit() and len(word) < _DIGITS:
        return int(word)
    what = f"'{word[:_SHOWN]}' is not a class of this model"
    hint = did_you_mean(word, classes) if classes else "add the names of the classes to model.yaml: classes: [...]"
    raise N6Error("N6-QUANT-012", what, where=where, hint=hint)
