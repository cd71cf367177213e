"""Helium paths of the ONNX-only kernels give the bits of the plain twins.

They run on an emulated Cortex-M55. tests/network/test_onnx.py compares the plain twins with
onnxruntime.
"""

import numpy as np
import pytest
from slow_rows import slow_rows

from kernels import onnx_cases
from kernels.cortex_m55 import Call
from kernels.helium import Helium
from kernels.kernel_descriptors import Case

CASES = 40
CASES_AT_EDGE = 8


def cases(kernel: str, count: int, seed: int) -> list[Case]:
    return [onnx_cases.random_case(kernel, np.random.default_rng([seed, index])) for index in range(count)]


@pytest.mark.parametrize("kernel", onnx_cases.KERNELS)
@pytest.mark.parametrize("optimisation", ["-O3", *slow_rows("-O0", "-O2")])
def test_random_operators_equal_the_plain_twins(kernel: str, optimisation: str, helium: Helium) -> None:
    helium.assert_equals_twins(cases(kernel, CASES, 1), optimisation)


@pytest.mark.parametrize("kernel", onnx_cases.KERNELS)
def test_nothing_is_read_or_written_beyond_a_buffer(kernel: str, helium: Helium) -> None:
    calls = [Call(case, at_edge) for case in cases(kernel, CASES_AT_EDGE, 2) for at_edge in [*case.buffers, "output"]]
    helium.assert_equals_twins(calls)
