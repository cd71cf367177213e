"""Corner cases of the Helium paths' special code give the plain twins' bits."""

from dataclasses import replace

import numpy as np
import pytest

from kernels import kernel_cases
from kernels.helium import Helium
from kernels.kernel_descriptors import Case, Shape, Window

INT32 = np.iinfo(np.int32)


def scaled_sums(scale: float, rng: np.random.Generator, single: bool) -> Case:
    """Return a fully connected layer whose sums are its biases.

    The sums are next to halves, at the ends of int32, or anywhere.
    """
    outputs = 250
    case = kernel_cases.fully_connected(rng, 1, 4, outputs, per_channel=not single)
    halves = (rng.integers(-700, 700, outputs) + 0.5) / scale + rng.integers(-3, 4, outputs)
    anywhere = rng.integers(INT32.min, INT32.max, outputs, endpoint=True) >> rng.integers(0, 31, outputs)
    ends = rng.choice([INT32.min, INT32.min + 1, -1, 0, 1, INT32.max - 1, INT32.max], outputs)
    sums = np.choose(rng.integers(0, 4, outputs), [halves, halves, anywhere, ends])
    buffers = {
        **case.buffers,
        "input": np.zeros((1, 4), np.int8),
        "bias": np.clip(np.rint(sums), INT32.min, INT32.max).astype(np.int32),
        "scale": np.full(1 if single else outputs, scale),
    }
    return replace(case, name=f"sums by {scale!r}", buffers=buffers)


@pytest.mark.parametrize("single", [False, True], ids=["a scale for each", "one scale"])
def test_fully_connected_scales_every_sum_as_doubles_do(single: bool, helium: Helium) -> None:
    rng = np.random.default_rng(5)
    usual = [float(2.0 ** rng.uniform(-31, 4)) for _ in range(40)]
    binary = [2.0**exponent for exponent in range(-34, 12, 3)]
    tiny_or_huge = [1e-300, 2.0**-160, 1e-40, 1e-12, 3e5, 1e12, 2.0**130, 1e300]
    cases = [scaled_sums(scale, rng, single) for scale in (*usual, *binary, *tiny_or_huge)]
    helium.assert_equals_twins(cases)


@pytest.mark.parametrize("runs", ["rows", "taps of one lane"])
def test_depthwise_products_of_minus_128_by_minus_128_do_not_overflow(runs: str, helium: Helium) -> None:
    rng = np.random.default_rng(6)
    cases = []
    for window in [(1, 1), (1, 2), (2, 2), (3, 3), (2, 5), (5, 5), (4, 9)]:
        for channels in (1, 3, 16, 21):
            case = kernel_cases.depthwise_conv_2d(rng, (6, 9, channels), 1, window)
            weights = np.full_like(case.buffers["weights"], -128)
            if runs != "rows":
                weights = np.where(np.arange(channels) == channels // 2, weights, case.buffers["weights"])
            values = np.full_like(case.buffers["input"], -128)
            buffers = {**case.buffers, "weights": weights.astype(np.int8), "input": values}
            cases.append(replace(case, buffers=buffers))
    helium.assert_equals_twins(cases)


def test_depthwise_padding_may_be_wider_than_the_window_and_the_input(helium: Helium) -> None:
    """A PAD before the operator causes such padding."""
    rng = np.random.default_rng(7)
    cases = []
    for stride, pad, out in [(1, 4, 8), (3, 5, 4), (7, 5, 2), (20, 5, 1), (2, 9, 9), (1, 90, 170)]:
        case = kernel_cases.depthwise_conv_2d(rng, (2, 2, 19), 1, (3, 3), (stride, stride), padding="SAME")
        window = Window(3, 3, stride, stride, 1, 1, pad, pad)
        height = min(out, 9)
        values = {**case.values, "out": Shape(height, out, 19), "window": window}
        # N6K_DEPTHWISE_CONV_2D_SCRATCH
        scratch = 16 * ((min(height, 4) - 1) * stride + 3) * ((min(out, 64) - 1) * stride + 3) + 40 * 9 + 32
        cases.append(replace(case, values=values, output=((1, height, out, 19), np.int8), scratch=scratch))
    helium.assert_equals_twins(cases)


def test_depthwise_rows_of_any_length(helium: Helium) -> None:
    rng = np.random.default_rng(10)
    cases = [
        kernel_cases.depthwise_conv_2d(rng, (3, width, 5), multiplier, (2, 3), (1, stride), padding=padding)
        for width in (63, 64, 65, 66, 128, 200)
        for multiplier, stride in [(1, 1), (1, 3), (4, 2)]
        for padding in ("SAME", "VALID")
    ]
    helium.assert_equals_twins(cases)


@pytest.mark.parametrize("kind", ["MAX", "AVERAGE"])
def test_pooling_windows_of_any_width(kind: str, helium: Helium) -> None:
    rng = np.random.default_rng(8)
    cases = [
        kernel_cases.pool_2d(rng, kind, (9, 11, channels), (height, width), (2, 3), padding)
        for height, width in [(1, 1), (1, 2), (2, 1), (3, 3), (2, 4), (4, 5), (1, 6), (3, 7), (2, 8)]
        for channels in (1, 8, 17)
        for padding in ("SAME", "VALID")
    ]
    helium.assert_equals_twins(cases)


@pytest.mark.parametrize("value", [-128, 127, None])
def test_averages_of_many_elements(value: int | None, helium: Helium) -> None:
    """Averages are of around 255 elements, whose sum still fits in 16 bits."""
    rng = np.random.default_rng(9)
    cases = [
        kernel_cases.pool_2d(rng, "AVERAGE", (height, width, 5), (height, width), (1, 1), "VALID", value=value)
        for height, width in [(1, 254), (15, 17), (17, 15), (16, 16), (1, 257), (20, 30), (1, 1), (127, 2), (128, 2)]
    ]
    helium.assert_equals_twins(cases)
