"""The right classes of a board's inputs, from folders and from files of labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from n6build.base.errors import N6Error
from n6build.compile.quantise.samples import Samples
from n6build.describe.preprocess import Preprocess
from n6build.steps.given_inputs import GivenInputsParameters, classes_of_rows

CLASSES = ("cat", "dog")
FOUND = Samples("photos", 4, {}, lambda number: {}, lambda number: f"photos.npy[{number}]")


def parameters(
    labelled: tuple[str, ...] | None, most: int = 200, folders: tuple[str, ...] = ()
) -> GivenInputsParameters:
    return GivenInputsParameters("net", "build", (), 1, Preprocess(), most, CLASSES, folders, labelled)


def test_folders_name_the_classes_without_a_file() -> None:
    assert classes_of_rows(parameters(None, folders=("dog", "cat")), [], FOUND) == ["dog", "cat"]


def test_a_file_has_labels_of_all_samples_and_the_board_gets_some_of_them(tmp_path: Path) -> None:
    names = tuple(f"{number}.png" for number in range(4))
    table, lines = tmp_path / "labels.csv", tmp_path / "labels.txt"
    table.write_text("3.png,dog\n1.png,dog\n0.png,cat\n2.png,cat\n")
    lines.write_text("0\n1\n0\ndog\n")
    for labels in (table, lines):
        assert classes_of_rows(parameters(names), [Path("0.png"), labels], FOUND) == ["cat", "dog", "cat", "dog"]
        assert classes_of_rows(parameters(names, most=2), [Path("0.png"), labels], FOUND) == ["cat", "cat"]


def test_an_array_has_a_label_for_each_row(tmp_path: Path) -> None:
    np.save(tmp_path / "labels.npy", np.array([1, 1, 0, 1]))
    sources = [tmp_path / "photos.npy", tmp_path / "labels.npy"]
    assert classes_of_rows(parameters(("photos.npy",)), sources, FOUND) == ["dog", "dog", "cat", "dog"]
    np.save(tmp_path / "labels.npy", np.array([1, 1, 0]))
    with pytest.raises(N6Error, match="N6-QUANT-012: has 3 labels, but there are 4 samples"):
        classes_of_rows(parameters(("photos.npy",)), sources, FOUND)


def test_labels_of_pixels_are_no_classes_of_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "masks.npy", np.zeros((4, 6, 6), np.uint8))
    assert classes_of_rows(parameters(("photos.npy",)), [tmp_path / "photos.npy", tmp_path / "masks.npy"], FOUND) == []
