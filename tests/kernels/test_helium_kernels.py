"""The Helium paths, on an emulated Cortex-M55, give the bits of the plain twins."""

import numpy as np
import pytest
from slow_rows import slow_rows

from kernels import kernel_cases
from kernels.cortex_m55 import Call
from kernels.helium import Helium
from kernels.kernel_descriptors import KERNELS, Case

CASES_PER_BATCH = 50
CASES_AT_EDGE = 12


def random_cases(kernel: str, numbers: range) -> list[Case]:
    return [kernel_cases.random_case(kernel, np.random.default_rng([KERNELS.index(kernel), 99, i])) for i in numbers]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("optimisation", ["-O3", *slow_rows("-O0", "-Os", "-O2")])
@pytest.mark.parametrize("batch", [0, *slow_rows(1, 2)])
def test_random_operators_equal_the_plain_twins(kernel: str, optimisation: str, batch: int, helium: Helium) -> None:
    first = batch * CASES_PER_BATCH
    helium.assert_equals_twins(random_cases(kernel, range(first, first + CASES_PER_BATCH)), optimisation)


@pytest.mark.parametrize("binary", [False, True])
def test_add_equals_the_plain_twin_for_every_pair_of_elements(binary: bool, helium: Helium) -> None:
    helium.assert_equals_twins(
        [kernel_cases.add_of_every_pair(np.random.default_rng(seed), binary) for seed in range(10)]
    )


@pytest.mark.parametrize("kernel", ["conv_2d", "depthwise_conv_2d", "fully_connected"])
def test_accumulators_next_to_a_half_round_as_in_the_plain_twins(kernel: str, helium: Helium) -> None:
    helium.assert_equals_twins(
        [kernel_cases.accumulators_next_to_halves(kernel, np.random.default_rng(seed), True) for seed in range(30)]
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_nothing_is_read_or_written_beyond_a_buffer(kernel: str, helium: Helium) -> None:
    calls = [
        Call(case, at_edge)
        for case in random_cases(kernel, range(CASES_AT_EDGE))
        for at_edge in [*case.buffers, "output"]
    ]
    helium.assert_equals_twins(calls)
