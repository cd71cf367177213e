"""The plain twins give the bits of the reference interpreter."""

from dataclasses import replace

import numpy as np
import pytest
import reference_interpreter
from slow_rows import slow_rows
from uint8_models import raised

from kernels import int16_cases, kernel_cases
from kernels.host_kernels import HostKernels
from kernels.kernel_descriptors import KERNELS, Case

_UNSCALED = {"multiplier": (1 << 31) - 1, "left_shift": 0, "right_shift": 0}
BATCHES = 10
CASES_PER_BATCH = 40


def assert_equals_reference(host_kernels: HostKernels, case: Case) -> None:
    expected = reference_interpreter.outputs(case.model, *case.inputs)[0]
    computed = host_kernels.run(case).reshape(expected.shape)
    if expected.dtype == np.uint8 and computed.dtype == np.int8:
        computed = raised(computed)
    differing = int(np.sum(computed != expected))
    assert differing == 0, f"{case}: {differing} of {expected.size} differ"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("batch", [0, *slow_rows(*range(1, BATCHES))])
def test_random_operators_equal_the_reference(host_kernels: HostKernels, kernel: str, batch: int) -> None:
    for index in range(CASES_PER_BATCH):
        rng = np.random.default_rng([KERNELS.index(kernel), batch, index])
        assert_equals_reference(host_kernels, kernel_cases.random_case(kernel, rng))


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_add_equals_the_reference_for_every_pair_of_elements(
    host_kernels: HostKernels, seed: int, binary: bool
) -> None:
    assert_equals_reference(host_kernels, kernel_cases.add_of_every_pair(np.random.default_rng(seed), binary))


@pytest.mark.parametrize("kernel", ["conv_2d", "depthwise_conv_2d", "fully_connected"])
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_accumulators_next_to_a_half_round_as_in_the_reference(
    host_kernels: HostKernels, kernel: str, per_channel: bool, seed: int
) -> None:
    case = kernel_cases.accumulators_next_to_halves(kernel, np.random.default_rng(seed), per_channel)
    assert_equals_reference(host_kernels, case)


@pytest.mark.parametrize("seed", range(20))
def test_softmax_of_many_rows_equals_the_reference(host_kernels: HostKernels, seed: int) -> None:
    rng = np.random.default_rng(seed)
    depth, scale = int(rng.integers(2, 400)), float(10 ** rng.uniform(-4, 1))
    assert_equals_reference(host_kernels, kernel_cases.softmax(rng, 300, depth, scale, float(rng.uniform(0.3, 3))))


@pytest.mark.parametrize("powers", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 1, 1), (32767, 1, 0), (32767, 32767, 32767)])
def test_softmax_int16_is_defined_for_every_sum(host_kernels: HostKernels, powers: tuple[int, ...]) -> None:
    """Rows whose exponentials sum to 0 or 1 have no bits to round."""
    case = int16_cases.softmax(np.random.default_rng(0), 1, 3)
    table = np.zeros(513, np.int16)
    # The entries that these elements look up; the largest element is between the last two.
    places = (511, 400, 300)
    table[list(places)] = powers
    table[512] = powers[0]
    elements = np.array([[0, *((place - 256) * 128 - 32767 for place in places[1:])]], np.int16)
    buffers = {**case.buffers, "input": elements, "exponential": table}
    case = replace(case, buffers=buffers, values={**case.values, **_UNSCALED})
    expected = np.array(powers) * 32768 / max(sum(powers), 1)
    assert np.all(np.abs(host_kernels.run(case)[0] - expected) <= 8)


def test_softmax_int16_of_steps_that_are_larger_than_its_range(host_kernels: HostKernels) -> None:
    """The difference of two elements leaves int32 there, and wraps."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        case = int16_cases.softmax(rng, 3, 40)
        values = {**case.values, **_UNSCALED, "left_shift": int(rng.integers(10, 31))}
        host_kernels.run(replace(case, values=values))


@pytest.mark.parametrize("value", [-128, -1, 0, 1, 127])
def test_average_of_equal_elements_is_that_element(host_kernels: HostKernels, value: int) -> None:
    rng = np.random.default_rng(0)
    case = kernel_cases.pool_2d(rng, "AVERAGE", (23, 19, 5), (23, 19), (1, 1), "VALID", value=value)
    assert_equals_reference(host_kernels, case)
    assert np.all(host_kernels.run(case) == value)
