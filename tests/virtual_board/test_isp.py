"""The arithmetic of the ISP against a second implementation.

Both are INFERRED. The properties at the end hold whatever its filters are.
"""

from __future__ import annotations

import itertools
import struct
import subprocess
from collections.abc import Callable
from dataclasses import astuple, dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from virtual_board.small_programs import host_program

Picture = NDArray[np.uint8]
Integers = NDArray[np.int64]
PATTERNS = ("RGGB", "GRBG", "GBRG", "BGGR")
ONE = (256, 0, 0, 0, 256, 0, 0, 0, 256)


@dataclass(frozen=True)
class Isp:
    """Settings of n6virt_isp.h, and the sensor's."""

    black: tuple[int, int, int] = (0, 0, 0)
    gain: tuple[int, int, int] = (128, 128, 128)
    shift: tuple[int, int, int] = (0, 0, 0)
    has_colours: bool = True
    pattern: int = 0
    has_matrix: bool = False
    has_gamma: bool = True
    offset: tuple[int, int, int] = (0, 0, 0)
    factor: tuple[int, ...] = field(default=ONE)
    sensor: int = 0
    sensor_black: int = 0
    daylight: tuple[int, int, int] = (100, 100, 100)


@dataclass(frozen=True)
class Developed:
    """A picture behind the ISP, and the sums of its statistics."""

    picture: Picture
    raw: tuple[int, ...]
    colours: tuple[int, ...]


Develop = Callable[[Isp, Picture, tuple[int, int]], Developed]


@pytest.fixture(scope="session")
def develop(tmp_path_factory: pytest.TempPathFactory) -> Develop:
    program = host_program(tmp_path_factory.mktemp("isp"), "isp")

    def call(isp: Isp, scene: Picture, window: tuple[int, int]) -> Developed:
        height, width, _ = scene.shape
        words = np.hstack(astuple(isp)).tolist()
        data = struct.pack("<34i", *words, width, height, *window) + scene.tobytes()
        done = subprocess.run([str(program)], input=data, capture_output=True, check=True).stdout
        sums = struct.unpack("<6Q", done[-48:])
        return Developed(np.frombuffer(done[:-48], np.uint8).reshape(height, width, 3), sums[:3], sums[3:])

    return call


def colours_of(pattern: int, height: int, width: int) -> Integers:
    """Return the colour of each raw pixel: 0 for red, 1 for green, 2 for blue."""
    square = np.array(["RGB".index(each) for each in PATTERNS[pattern]]).reshape(2, 2)
    whole: Integers = np.tile(square, (height // 2 + 1, width // 2 + 1))[:height, :width].astype(np.int64)
    return whole


def expected(isp: Isp, scene: Picture, window: tuple[int, int]) -> Developed:
    height, width, _ = scene.shape
    black = 4 * isp.sensor_black
    light = np.minimum((scene / 255.0) ** 2.2 * 100 / np.array(isp.daylight), 1)
    linear = (black + light * (1023 - black)).astype(np.int64)
    sent, taken = colours_of(isp.sensor, height, width), colours_of(isp.pattern, height, width)
    raw = np.take_along_axis(linear, sent[..., np.newaxis], 2)[..., 0]
    seen = (slice(1, 1 + window[1]), slice(1, 1 + window[0]))
    raw_sums = tuple(int((raw[seen] >> 2)[taken[seen] == colour].sum()) for colour in range(3))
    raw = np.clip(raw - 4 * np.array(isp.black)[taken], 0, 1023)
    raw = np.clip((raw * np.array(isp.gain)[taken] // 128) << np.array(isp.shift)[taken], 0, 1023)
    values = np.repeat(raw[..., np.newaxis], 3, axis=2)
    if isp.has_colours:
        for y, x, colour in itertools.product(range(height), range(width), range(3)):
            near = (slice(max(y - 1, 0), y + 2), slice(max(x - 1, 0), x + 2))
            there = raw[near][taken[near] == colour]
            if taken[y, x] != colour:
                values[y, x, colour] = there.sum() // len(there) if len(there) else 0
    sums = tuple(int(each) for each in (values[seen] >> 2).sum(axis=(0, 1)))
    if isp.has_matrix:
        values = np.clip((values @ np.array(isp.factor).reshape(3, 3).T >> 8) + 4 * np.array(isp.offset), 0, 1023)
    shown = (255 * (values / 1023) ** (1 / 2.2)).astype(np.uint8) if isp.has_gamma else (values >> 2).astype(np.uint8)
    return Developed(shown, raw_sums, sums)


@st.composite
def isps(draw: st.DrawFn) -> Isp:
    three = [draw(st.tuples(*[st.integers(low, high)] * 3)) for low, high in ((0, 255), (0, 255), (0, 7), (-512, 511))]
    factor = draw(st.tuples(*[st.integers(-1024, 1023)] * 9))
    switches = [draw(st.booleans()) for _ in range(3)]
    patterns = [draw(st.integers(0, 3)) for _ in range(2)]
    black = draw(st.integers(0, 255))
    daylight = draw(st.tuples(*[st.integers(25, 400)] * 3))
    taken = (three[0], three[1], three[2], switches[0], patterns[0], switches[1], switches[2], three[3], factor)
    return Isp(*taken, patterns[1], black, daylight)


@settings(max_examples=60, deadline=None)
@given(isp=isps(), width=st.integers(1, 9), height=st.integers(1, 7), seed=st.integers(0, 1 << 32))
def test_each_setting_equals_the_second_implementation(
    develop: Develop, isp: Isp, width: int, height: int, seed: int
) -> None:
    scene = np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)
    made, wanted = develop(isp, scene, (4, 3)), expected(isp, scene, (4, 3))
    assert (made.picture == wanted.picture).all()
    assert (made.raw, made.colours) == (wanted.raw, wanted.colours)


@pytest.mark.parametrize("pattern", range(4))
def test_a_colour_passes_unchanged_if_the_program_knows_the_sensor(develop: Develop, pattern: int) -> None:
    scene = np.full((8, 10, 3), (200, 120, 40), np.uint8)
    gains, shifts = (147, 134, 241), (1, 0, 0)
    isp = Isp((12, 12, 12), gains, shifts, pattern=pattern, sensor=pattern, sensor_black=12, daylight=(220, 100, 180))
    assert np.abs(develop(isp, scene, (0, 0)).picture.astype(int) - scene).max() <= 3


def test_a_wrong_pattern_exchanges_red_and_blue(develop: Develop) -> None:
    scene = np.full((8, 10, 3), (200, 120, 40), np.uint8)
    made = develop(Isp(pattern=PATTERNS.index("BGGR")), scene, (0, 0)).picture[4, 4].astype(int)
    assert np.abs(made - (40, 120, 200)).max() <= 2


def test_without_gamma_a_picture_is_dark_and_without_black_level_it_is_pale(develop: Develop) -> None:
    scene = np.full((4, 4, 3), 100, np.uint8)
    assert develop(Isp(has_gamma=False), scene, (0, 0)).picture.max() < 40
    assert develop(Isp(sensor_black=12), scene, (0, 0)).picture.min() > 105
