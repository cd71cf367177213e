"""The arithmetic of DCMIPP against a second implementation.

It is that of crop, decimation and downsize. Both are INFERRED. The properties at the end hold whatever the filter is.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from virtual_board.small_programs import host_program

Picture = NDArray[np.uint8]
Follow = Callable[["Path_", Picture], Picture]
UNIT = 8192


@dataclass(frozen=True)
class Path_:
    """A path of n6virt_pixels.h, in its order."""

    left: int
    top: int
    width: int
    height: int
    keep_x: int = 1
    keep_y: int = 1
    scales: int = 0
    ratio_x: int = UNIT
    ratio_y: int = UNIT
    divisor_x: int = 1024
    divisor_y: int = 1024
    out_width: int = 0
    out_height: int = 0


def scaled(path: Path_, width: int, height: int) -> Path_:
    """Return a path that scales to a size, with fields as ST's middleware has."""
    kept = (-(-path.width // path.keep_x), -(-path.height // path.keep_y))
    ratios = [min(UNIT * source // out, 65535) for source, out in zip(kept, (width, height), strict=True)]
    divisors = [min((1024 * UNIT - 1) // ratio, 1023) for ratio in ratios]
    return replace(
        path,
        scales=1,
        ratio_x=ratios[0],
        ratio_y=ratios[1],
        divisor_x=divisors[0],
        divisor_y=divisors[1],
        out_width=width,
        out_height=height,
    )


@pytest.fixture(scope="session")
def follow(tmp_path_factory: pytest.TempPathFactory) -> Follow:
    program = host_program(tmp_path_factory.mktemp("pixels"), "pixels")

    def call(path: Path_, picture: Picture) -> Picture:
        height, width, _ = picture.shape
        words = struct.pack("<15I", *astuple(path), width, height)
        done = subprocess.run([str(program)], input=words + picture.tobytes(), capture_output=True, check=True)
        kept = -(-path.height // path.keep_y), -(-path.width // path.keep_x)
        size = (path.out_height, path.out_width) if path.scales else kept
        return np.frombuffer(done.stdout, np.uint8).reshape(*size, 3)

    return call


def along(values: NDArray[np.int64], ratio: int, out: int) -> NDArray[np.int64]:
    """Return sums over windows of ratio / 8192 rows, in units of 1 / 8192."""
    sums = []
    for place in range(out):
        begin, end = place * ratio, (place + 1) * ratio
        total = np.zeros(values.shape[1:], np.int64)
        for row in range(begin // UNIT, (end - 1) // UNIT + 1):
            part = min(end, (row + 1) * UNIT) - max(begin, row * UNIT)
            total += part * values[min(row, len(values) - 1)]
        sums.append(total)
    return np.stack(sums)


def expected(path: Path_, picture: Picture) -> Picture:
    cut = picture[path.top : path.top + path.height, path.left : path.left + path.width]
    kept = cut[:: path.keep_y, :: path.keep_x].astype(np.int64)
    if not path.scales:
        return kept.astype(np.uint8)
    narrow = along(kept.swapaxes(0, 1), path.ratio_x, path.out_width).swapaxes(0, 1) * path.divisor_x >> 15
    whole: NDArray[np.int64] = along(np.minimum(narrow, 0xFF00), path.ratio_y, path.out_height) * path.divisor_y >> 31
    capped: Picture = np.minimum(whole, 255).astype(np.uint8)
    return capped


@st.composite
def paths(draw: st.DrawFn) -> tuple[Path_, int, int]:
    width, height = draw(st.integers(1, 70)), draw(st.integers(1, 50))
    left, top = draw(st.integers(0, width - 1)), draw(st.integers(0, height - 1))
    keeps = [draw(st.sampled_from((1, 2, 4, 8))) for _ in range(2)]
    path = Path_(left, top, draw(st.integers(1, width - left)), draw(st.integers(1, height - top)), *keeps)
    if draw(st.booleans()):
        kept = (-(-path.width // path.keep_x), -(-path.height // path.keep_y))
        path = scaled(path, *(draw(st.integers(max(1, -(-size // 8)), size)) for size in kept))
    return path, width, height


@settings(max_examples=60, deadline=None)
@given(drawn=paths(), seed=st.integers(0, 1 << 32))
def test_each_path_equals_the_second_implementation(follow: Follow, drawn: tuple[Path_, int, int], seed: int) -> None:
    path, width, height = drawn
    picture = np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)
    assert (follow(path, picture) == expected(path, picture)).all()


@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.integers(0, 65535), min_size=5, max_size=5), size=st.integers(1, 40))
def test_any_values_of_the_registers_stay_in_the_picture(follow: Follow, values: list[int], size: int) -> None:
    ratio_x, ratio_y, divisor, *sides = values
    width, height = (side % 90 + 1 for side in sides)
    path = Path_(0, 0, size, size, 1, 1, 1, ratio_x or 1, ratio_y or 1, divisor % 1024, 1023, width, height)
    picture = np.random.default_rng(size).integers(0, 256, (size, size, 3)).astype(np.uint8)
    assert (follow(path, picture) == expected(path, picture)).all()


# Settings of ST's applications: ObjectDetection's pipes, FaceDetection's pipe 2.
SQUARE = Path_(324, 0, 1944, 1944)
APPLICATIONS = {
    "ObjectDetection": scaled(SQUARE, 480, 480),
    "FaceDetection": scaled(replace(SQUARE, keep_x=2, keep_y=2), 128, 128),
}


@pytest.mark.parametrize(
    ("name", "ratio", "divisor"), [("ObjectDetection", 0x8199, 0xFC), ("FaceDetection", 0xF300, 0x86)]
)
def test_the_fields_are_those_of_the_applications(name: str, ratio: int, divisor: int) -> None:
    path = APPLICATIONS[name]
    assert (path.ratio_x, path.ratio_y, path.divisor_x, path.divisor_y) == (ratio, ratio, divisor, divisor)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_a_colour_stays_uniform_an_edge_in_place_and_the_mean(follow: Follow, name: str) -> None:
    path = APPLICATIONS[name]
    uniform = np.full((1944, 2592, 3), (200, 90, 255), np.uint8)
    found = follow(path, uniform)
    assert (found == found[0, 0]).all()
    # The divisor loses at most 1.3 %, each direction up to a step by rounding down.
    assert (np.abs(found[0, 0].astype(float) - uniform[0, 0]) <= 0.013 * uniform[0, 0] + 2).all()
    edge = np.zeros((1944, 2592, 3), np.uint8)
    edge[:, 1000:] = 255
    place = (1000 - path.left) * path.out_width / path.width
    assert abs(int((follow(path, edge)[0, :, 0] > 127).argmax()) - place) <= 1
