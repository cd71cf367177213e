"""Helium paths of the ONNX-only kernels give the bits of the plain twins.

They run on an emulated Cortex-M55. tests/network/test_onnx.py compares the plain twins with
onnxruntime.
"""

from pathlib import Path

import numpy as np
import pytest
from slow_rows import slow_rows

from kernels import cortex_m55, onnx_cases
from kernels.cortex_m55 import Call
from kernels.host_kernels import HostKernels
from kernels.kernel_descriptors import Case
from kernels.test_helium_kernels import assert_equals_twins

CASES = 40
CASES_AT_EDGE = 8


def cases(kernel: str, count: int, seed: int) -> list[Case]:
    return [onnx_cases.random_case(kernel, np.random.default_rng([seed, index])) for index in range(count)]


@pytest.mark.parametrize("kernel", onnx_cases.KERNELS)
@pytest.mark.parametrize("optimisation", ["-O3", *slow_rows("-O0", "-O2")])
def test_random_operators_equal_the_plain_twins(
    kernel: str,
    optimisation: str,
    host_kernels: HostKernels,
    machine: cortex_m55.Machine,
    runners: dict[str, Path],
    tmp_path: Path,
) -> None:
    calls = [Call(case) for case in cases(kernel, CASES, 1)]
    assert_equals_twins(host_kernels, machine, runners[optimisation], calls, tmp_path)


@pytest.mark.parametrize("kernel", onnx_cases.KERNELS)
def test_nothing_is_read_or_written_beyond_a_buffer(
    kernel: str,
    host_kernels: HostKernels,
    machine: cortex_m55.Machine,
    runners: dict[str, Path],
    tmp_path: Path,
) -> None:
    calls = [Call(case, at_edge) for case in cases(kernel, CASES_AT_EDGE, 2) for at_edge in [*case.buffers, "output"]]
    assert_equals_twins(host_kernels, machine, runners["-O2"], calls, tmp_path)
