"""The Helium paths, on an emulated Cortex-M55, give the bits of the plain twins."""

from pathlib import Path

import cases
import machines
import numpy as np
import pytest
from conftest import HostKernels
from descriptors import KERNELS

CASES = 150


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("optimisation", ["-O2", "-O3"])
def test_random_operators_equal_the_plain_twins(
    kernel: str,
    optimisation: str,
    host_kernels: HostKernels,
    machine: machines.Machine,
    runners: dict[str, Path],
    tmp_path: Path,
) -> None:
    chosen = [cases.random_case(kernel, np.random.default_rng([KERNELS.index(kernel), 99, i])) for i in range(CASES)]
    results = machines.run(machine, runners[optimisation], chosen, tmp_path)
    for case, result in zip(chosen, results, strict=True):
        assert result.output == host_kernels.run(case).tobytes(), str(case)
