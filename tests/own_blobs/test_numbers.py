"""The NPU's way from sums to int8, and the order of weights in memory.

The reference rounds once.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.compile.neural_art.layer import Calibration
from n6build.compile.neural_art.layouts import deep, deep_set_bytes, in_rows, inflated, plain
from n6build.compile.neural_art.requantise import (
    Requantisation,
    Scales,
    as_fraction,
    excess_bits,
    largest_depthwise_sums,
    largest_sums,
    lifted,
    possible_sums,
    requantisation,
)
from n6build.compile.reference.fixed_point import quantize_multiplier, scale_double


def on_the_npu(sums: np.ndarray, how: Requantisation) -> np.ndarray:
    """Return int8 results of sums (rows x channels), by the two shifts of the units."""
    first = np.clip(shifted(sums, how.first), -32768, 32767)
    made: np.ndarray = np.clip(shifted(first * np.array(how.factors) + np.array(how.summands), how.second), -128, 127)
    return made


def shifted(values: np.ndarray, by: int) -> np.ndarray:
    moved: np.ndarray = values if by == 0 else (values + (1 << (by - 1))) >> by
    return moved


@given(
    st.integers(0, 2**32 - 1),
    st.floats(1e-3, 0.1),
    st.floats(1e-3, 0.1),
    st.integers(-128, 127),
    st.integers(9, 4000),
    st.booleans(),
)
def test_two_roundings_are_within_one_step_of_one(
    seed: int, source: float, target: float, zero: int, taps: int, in_parts: bool
) -> None:
    rng = np.random.default_rng(seed)
    channels = 8
    weights = rng.uniform(2e-3, 8e-3, channels)
    sums = rng.integers(-127 * taps, 127 * taps, (64, channels))
    biases = rng.integers(-2000, 2000, channels).astype(np.float64)
    how = requantisation(
        np.abs(sums).max(0).astype(np.float64), Scales(source, weights, target, zero), biases, in_parts=in_parts
    )
    exact = (sums + biases) * source * weights / target + zero
    # A step of the intermediate 16 bits must not be as large as a step of the output: then no unit could do better.
    if np.ptp(exact) < 200_000:
        far = np.abs(on_the_npu(sums, how) - np.clip(np.round(exact), -128, 127))
        assert far.max() <= 1 + (source * weights.max() / target * 2.0**how.first > 1)


@given(st.integers(0, 2**24), st.floats(1e-7, 0.9))
def test_a_second_rounding_is_one_with_more_added(total: int, real: float) -> None:
    """Rational numbers show this exactly for results that are not negative."""
    multiplier, shift = quantize_multiplier(real)
    exact = Fraction(multiplier) * Fraction(2) ** (shift - 31)
    added = Fraction(float(lifted(np.array([float(exact)]))[0]))
    assert scale_double(total, multiplier, shift) == math.floor(total * exact + added + Fraction(1, 2))


def test_what_it_adds_belongs_to_layers_that_are_rounded_twice_and_cut_off_at_zero() -> None:
    def summand(zero: int, *, twice: bool) -> float:
        scales = Scales(0.5, np.array([0.25]), 1.0, zero, twice)
        how = requantisation(np.array([1000.0]), scales, np.array([0.0]), in_parts=False)
        return float(how.summands[0]) / 2.0**how.second - zero

    # 0.125 is half a number of 31 bits, shifted right by two more bits.
    assert summand(-128, twice=True) == 2**-3
    assert summand(-128, twice=False) == summand(5, twice=True) == 0


@given(st.integers(0, 2**32 - 1))
def test_no_sum_is_larger_than_the_weights_allow(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(-127, 128, (3, 3, 4))
    # The image is the worst possible one for the first channel.
    images = rng.choice(np.array([-128, 127], np.int8), (1, 3, 3, 4))
    images[0, :, :, 0] = np.where(weights[:, :, 0] > 0, 127, -128)
    largest = largest_depthwise_sums(images, weights, 1, (0, 0, 0, 0), -128)
    assert np.all(largest <= possible_sums(weights))
    weights[:, :, 0] = np.abs(weights[:, :, 0])
    images[0, :, :, 0] = 127
    assert largest_depthwise_sums(images, weights, 1, (0, 0, 0, 0), -128)[0] == possible_sums(weights)[0]


@given(st.floats(1e-9, 1e6))
def test_a_fraction_is_within_its_last_bit(value: float) -> None:
    factor, shift = as_fraction(value)
    assert 16384 <= factor <= 32768
    assert factor * 2.0**-shift == pytest.approx(value, rel=1 / 32768)


@given(st.integers(0, 2**31))
def test_what_is_shifted_fits_into_16_bits(magnitude: int) -> None:
    bits = excess_bits(magnitude)
    assert magnitude >> bits <= 32767
    assert bits == 0 or magnitude >> (bits - 1) > 32766 // 2


def test_partial_sums_count_where_they_are_larger_than_the_whole() -> None:
    image = np.array([[[[100, -100]]]], np.int8)
    kernels = np.ones((1, 1, 2, 1), np.int64)
    whole = largest_sums(image, kernels, 1, (0, 0, 0, 0), 0, [(0, 2)])
    parts = largest_sums(image, kernels, 1, (0, 0, 0, 0), 0, [(0, 1), (1, 2)])
    assert (whole[0], parts[0]) == (0, 100)


def sums_by_hand(images: np.ndarray, kernels: np.ndarray) -> np.ndarray:
    made: np.ndarray = np.abs(np.einsum("nyxc,ck->nyxk", images.astype(np.int64), kernels[0, 0])).max((0, 1, 2))
    return made


@pytest.mark.parametrize(("size", "depth", "count"), [(9, 3, 5), (17, 300, 50), (5, 1280, 500)])
def test_sums_of_many_channels_are_exact_in_whatever_pieces(size: int, depth: int, count: int) -> None:
    rng = np.random.default_rng(depth)
    images = rng.integers(-128, 128, (2, size, size, depth), dtype=np.int8)
    kernels = rng.integers(-127, 128, (1, 1, depth, count))
    found = largest_sums(images, kernels, 1, (0, 0, 0, 0), 0, [(0, depth)])
    assert found.tolist() == sums_by_hand(images, kernels).tolist()


def test_a_calibration_computes_sums_once_and_anew_where_anything_is_another() -> None:
    calls: list[object] = []

    def find(*given: object) -> np.ndarray:
        calls.append(given)
        return np.array([float(len(calls))])

    calibration = Calibration({}, 1.5)
    images, kernels = np.arange(8, dtype=np.int8).reshape(1, 2, 2, 2), np.ones((2, 2), np.int64)
    other = images.copy()
    other[0, 0, 0, 0] += 1
    asked = [(images, kernels, 1), (images.copy(), kernels, 1), (other, kernels, 1), (images, kernels + 1, 1)]
    asked += [(images, kernels, 2), (images.reshape(1, 1, 4, 2), kernels, 1), (images[:, ::-1], kernels, 1)]
    found = [calibration.largest(find, *each)[0] for each in asked]
    assert found == [1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_plain_kernels_are_cut_by_frame_and_unit() -> None:
    weights = np.arange(4 * 1 * 2 * 4, dtype=np.int8).reshape(4, 1, 2, 4)
    data = plain(weights, 2, [(0, 2), (2, 4)])
    assert data[:8] == weights[:2, :, :, :2].tobytes()
    assert data[8:16] == weights[:2, :, :, 2:].tobytes()
    assert sorted(data) == list(range(32))


def test_deep_kernels_stand_by_eight_channel_by_channel() -> None:
    weights = np.arange(16 * 5, dtype=np.int16).astype(np.int8).reshape(16, 5)
    data = deep(weights, 16, [(0, 5)])
    assert len(data) == deep_set_bytes(16, 5) == 81
    assert list(data[:8]) == [kernel * 5 for kernel in range(8)]
    assert list(data[40:48]) == [kernel * 5 for kernel in range(8, 16)]


def test_depthwise_kernels_are_zero_for_other_channels() -> None:
    weights = np.arange(1, 3 * 3 * 16 + 1, dtype=np.int16).astype(np.int8).reshape(3, 3, 16)
    kernels = np.frombuffer(inflated(weights, 8), np.int8).reshape(2, 8, 3, 3, 8)
    for group in range(2):
        for kernel in range(8):
            channel = kernels[group, kernel]
            assert (channel[..., kernel] == weights[..., 8 * group + kernel]).all()
            assert not np.delete(channel, kernel, axis=-1).any()


@pytest.mark.parametrize(("height", "starts"), [(7, (0, 3, 4)), (10, (0, 3, 6, 7)), (9, (0, 3, 6))])
def test_rows_of_large_kernels_are_taken_once(height: int, starts: tuple[int, ...]) -> None:
    weights = np.random.default_rng(3).integers(-128, 128, (4, height, 4)).astype(np.int8)
    data, found = in_rows(weights, 2, 3, 7)
    assert found == starts
    units = np.frombuffer(data, np.int8).reshape(2, len(starts), 2, 3, 7)
    whole = np.zeros((4, height, 7), np.int64)
    for frame in range(2):
        for unit, start in enumerate(starts):
            whole[2 * frame : 2 * frame + 2, start : start + 3] += units[frame, unit]
    assert (whole[..., :4] == weights).all()
    assert not whole[..., 4:].any()
