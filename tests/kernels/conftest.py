"""What the kernel tests run on: the plain twins compiled for this host, and the Helium paths on an emulated Cortex-M55."""

from pathlib import Path

import pytest

from kernels import cortex_m55
from kernels.host_kernels import HostKernels


@pytest.fixture(scope="session")
def host_kernels(tmp_path_factory: pytest.TempPathFactory) -> HostKernels:
    return HostKernels(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="session")
def machine() -> cortex_m55.Machine:
    return cortex_m55.virtual_board()


@pytest.fixture(scope="session")
def runners(machine: cortex_m55.Machine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program that runs kernels on the machine, for each optimisation."""
    folder = tmp_path_factory.mktemp("runner")
    return {level: cortex_m55.build_runner(machine, folder, level) for level in ("-O0", "-Os", "-O2", "-O3")}
