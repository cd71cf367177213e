"""Samples that are pictures, sounds or tables, read when they are used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.compile.quantise.float_model import Input
from n6build.compile.quantise.samples import Samples
from n6build.describe.preprocess import Preprocess
from n6build.describe.sample_files import ARRAYS, PICTURES, SOUNDS


def is_array(path: Path) -> bool:
    """Return whether a file has arrays of NumPy."""
    return path.suffix.lower() in ARRAYS


def open_media(files: Sequence[Path], inputs: Sequence[Input], how: Preprocess) -> Samples:
    """Open pictures, sounds or tables without reading them.

    Args:
        files: A file for each sample, or a single table with a row for each.
        inputs: Inputs of the model with fixed shapes.
        how: Pre-processing.

    Raises:
        N6Error: N6-QUANT-005 for a model with several inputs; N6-QUANT-014 for a single table that is damaged.
    """
    if len(inputs) != 1:
        what = f"the model has {len(inputs)} inputs, but a file has one"
        raise N6Error("N6-QUANT-005", what, where=files[0].name, hint="give a .npz file with an array for each input")
    (port,) = inputs
    one_folder = len({each.parent for each in files}) == 1
    folder = (files[0].parent if one_folder else files[0].parent.parent).name
    if len(files) == 1 and files[0].suffix.lower() == ".csv":
        from n6build.compile.quantise.tables import read_table  # noqa: PLC0415

        table = read_table(files[0])
        shapes = {port.name: tuple(table.shape[1:])}
        return Samples(
            files[0].name, len(table), shapes, lambda n: {port.name: table[n]}, lambda n: f"{files[0].name}[{n}]"
        )
    return Samples(
        files[0].name if len(files) == 1 else folder,
        len(files),
        {port.name: port.shape},
        lambda number: {port.name: read_medium(files[number], port.shape, how)},
        lambda number: files[number].name,
    )


def read_medium(path: Path, shape: Sequence[int], how: Preprocess) -> NDArray[np.float32]:
    """Return the values of a picture, sound or table for an input.

    Args:
        path: The file.
        shape: Shape of the input.
        how: Pre-processing.

    Raises:
        N6Error: N6-QUANT-005; N6-QUANT-014 if the file is damaged.
    """
    suffix = path.suffix.lower()
    if suffix in PICTURES:
        from n6build.compile.quantise.pictures import read_picture  # noqa: PLC0415 - the package may be missing.

        return read_picture(path, shape, how)
    if suffix in SOUNDS:
        from n6build.compile.quantise.sounds import read_sound  # noqa: PLC0415

        return read_sound(path, shape, how)
    from n6build.compile.quantise.tables import read_table  # noqa: PLC0415

    return read_table(path)
