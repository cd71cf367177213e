"""Inputs of a network as a picture: pixels come back from the values in its type."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.preprocess import Preprocess, Sound
from n6build.tell.seen_picture import Seen, seen_inputs
from PIL import Image

PIXELS = np.random.default_rng(0).integers(0, 256, (12, 32, 48, 3))
MARGIN = 2


def port(shape: tuple[int, ...], dtype: str = "int8", scale: float = 1 / 255, zero_point: int = -128) -> IoBuffer:
    return IoBuffer("in", None, int(np.prod(shape)) * np.dtype(dtype).itemsize, dtype, shape, scale, zero_point)  # type: ignore[arg-type]


def seen(folder: Path, rows: np.ndarray, ports: list[IoBuffer], how: Preprocess | None = None) -> Seen | None:
    np.save(folder / "inputs.npy", rows)
    return seen_inputs(folder / "inputs.npy", ports, how or Preprocess())


def drawn(found: Seen | None) -> np.ndarray:
    assert found is not None
    return np.asarray(Image.open(io.BytesIO(found.png)))


def test_pixels_of_an_int8_input(tmp_path: Path) -> None:
    found = seen(tmp_path, (PIXELS - 128).astype(np.int8), [port((1, 32, 48, 3))])
    assert found is not None
    assert (found.shown, found.count, found.text) == (9, 12, "48 x 32 pixels, int8")
    picture = drawn(found)
    # Three in a row, each pixel three times as large, with a white margin.
    assert picture.shape == (3 * (96 + 2 * MARGIN), 3 * (144 + 2 * MARGIN), 3)
    assert (picture[MARGIN : MARGIN + 96 : 3, MARGIN : MARGIN + 144 : 3] == PIXELS[0]).all()
    second = picture[MARGIN : MARGIN + 96 : 3, 148 + MARGIN : 148 + MARGIN + 144 : 3]
    assert (second == PIXELS[1]).all()
    assert (picture[0] == 255).all()


def test_the_pre_processing_is_undone(tmp_path: Path) -> None:
    how = Preprocess(colour="bgr", mean=(0.5, 0.4, 0.3), deviation=(0.2, 0.3, 0.4))
    values = (PIXELS[:2, ..., ::-1] / 255 - how.mean) / how.deviation
    rows = values.transpose(0, 3, 1, 2).astype(np.float32)
    picture = drawn(seen(tmp_path, rows, [port((1, 3, 32, 48), "float32", 1.0, 0)], how))
    assert (picture[MARGIN : MARGIN + 96 : 3, MARGIN : MARGIN + 144 : 3] == PIXELS[0]).all()


def test_values_of_another_pre_processing_are_spread(tmp_path: Path) -> None:
    picture = drawn(seen(tmp_path, (PIXELS * 900.0 - 7).astype(np.float32), [port((1, 32, 48, 3), "float32", 1.0, 0)]))
    assert (picture[MARGIN : MARGIN + 96 : 3, MARGIN : MARGIN + 144 : 3] == PIXELS[0]).all()


def test_bands_of_a_sound_go_upwards(tmp_path: Path) -> None:
    bands = np.zeros((1, 40, 20, 1), np.float32)
    bands[0, 3, 0] = 7.0  # The lowest band, in the fourth frame.
    how = Preprocess(sound=Sound(features="log-mel"))
    picture = drawn(seen(tmp_path, bands, [port((1, 40, 20, 1), "float32", 1.0, 0)], how))[..., 0]
    assert picture.shape == (100 + 2 * MARGIN, 200 + 2 * MARGIN)
    assert picture[-MARGIN - 1, MARGIN + 15] == 255
    assert picture[MARGIN : -MARGIN - 5, MARGIN:-MARGIN].max() == 0


def test_the_second_of_two_inputs_is_a_picture(tmp_path: Path) -> None:
    ports = [port((1, 10)), port((1, 32, 48, 1))]
    row = np.concatenate([np.zeros(10), PIXELS[0, ..., 0].ravel() - 128]).astype(np.int8)
    picture = drawn(seen(tmp_path, np.stack([row, row]), ports))
    assert (picture[MARGIN : MARGIN + 96 : 3, MARGIN : MARGIN + 144 : 3, 1] == PIXELS[0, ..., 0]).all()


@pytest.mark.parametrize("shape", [(1, 490), (1, 16000, 1), (1, 4, 4, 3), (1, 32, 32, 8), (1, 128, 3)])
def test_other_inputs_have_no_picture(shape: tuple[int, ...], tmp_path: Path) -> None:
    assert seen(tmp_path, np.zeros((2, *shape[1:]), np.int8), [port(shape)]) is None


def test_inputs_of_another_size_have_no_picture(tmp_path: Path) -> None:
    assert seen(tmp_path, np.zeros((2, 5), np.int8), [port((1, 32, 48, 3))]) is None
    (tmp_path / "damaged.npy").write_bytes(b"no array")
    assert seen_inputs(tmp_path / "damaged.npy", [port((1, 32, 48, 3))], Preprocess()) is None
