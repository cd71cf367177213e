"""The Helium paths, on an emulated Cortex-M55, give the bits of the plain twins."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from slow_rows import slow_rows

from kernels import cortex_m55, kernel_cases
from kernels.cortex_m55 import Call
from kernels.host_kernels import HostKernels
from kernels.kernel_descriptors import KERNELS, Case

CASES_PER_BATCH = 50
CASES_AT_EDGE = 12


def random_cases(kernel: str, numbers: range) -> list[Case]:
    return [kernel_cases.random_case(kernel, np.random.default_rng([KERNELS.index(kernel), 99, i])) for i in numbers]


def assert_equals_twins(
    host_kernels: HostKernels, machine: cortex_m55.Machine, runner: Path, calls: Sequence[Call], folder: Path
) -> None:
    for call, result in zip(calls, cortex_m55.run(machine, runner, calls, folder), strict=True):
        output, state = host_kernels.run_with_state(call.case)
        assert (result.output, result.state) == (output.tobytes(), state), str(call)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("optimisation", ["-O3", *slow_rows("-O0", "-Os", "-O2")])
@pytest.mark.parametrize("batch", [0, *slow_rows(1, 2)])
def test_random_operators_equal_the_plain_twins(
    kernel: str,
    optimisation: str,
    batch: int,
    host_kernels: HostKernels,
    machine: cortex_m55.Machine,
    runners: dict[str, Path],
    tmp_path: Path,
) -> None:
    first = batch * CASES_PER_BATCH
    calls = [Call(case) for case in random_cases(kernel, range(first, first + CASES_PER_BATCH))]
    assert_equals_twins(host_kernels, machine, runners[optimisation], calls, tmp_path)


@pytest.mark.parametrize("binary", [False, True])
def test_add_equals_the_plain_twin_for_every_pair_of_elements(
    binary: bool,
    host_kernels: HostKernels,
    machine: cortex_m55.Machine,
    runners: dict[str, Path],
    tmp_path: Path,
) -> None:
    calls = [Call(kernel_cases.add_of_every_pair(np.random.default_rng(seed), binary)) for seed in range(10)]
    assert_equals_twins(host_kernels, machine, runners["-O2"], calls, tmp_path)


@pytest.mark.parametrize("kernel", ["conv_2d", "depthwise_conv_2d", "fully_connected"])
def test_accumulators_next_to_a_half_round_as_in_the_plain_twins(
    kernel: str,
    host_kernels: HostKernels,
    machine: cortex_m55.Machine,
    runners: dict[str, Path],
    tmp_path: Path,
) -> None:
    calls = [
        Call(kernel_cases.accumulators_next_to_halves(kernel, np.random.default_rng(seed), True)) for seed in range(30)
    ]
    assert_equals_twins(host_kernels, machine, runners["-O2"], calls, tmp_path)


@pytest.mark.parametrize("kernel", KERNELS)
def test_nothing_is_read_or_written_beyond_a_buffer(
    kernel: str,
    host_kernels: HostKernels,
    machine: cortex_m55.Machine,
    runners: dict[str, Path],
    tmp_path: Path,
) -> None:
    calls = [
        Call(case, at_edge)
        for case in random_cases(kernel, range(CASES_AT_EDGE))
        for at_edge in [*case.buffers, "output"]
    ]
    assert_equals_twins(host_kernels, machine, runners["-O2"], calls, tmp_path)
