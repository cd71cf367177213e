"""What the kernel tests run on: the plain twins compiled for this host, and the Helium paths on an emulated Cortex-M55."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import cortex_m55  # noqa: E402
from host_kernels import HostKernels  # noqa: E402


@pytest.fixture(scope="session")
def host_kernels(tmp_path_factory: pytest.TempPathFactory) -> HostKernels:
    return HostKernels(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="session")
def machine() -> cortex_m55.Machine:
    found = cortex_m55.find()
    if found is None:
        pytest.skip("no emulator of a Cortex-M55: neither the virtual board nor qemu-system-arm")
    return found


@pytest.fixture(scope="session")
def runners(machine: cortex_m55.Machine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program that runs kernels on the machine, for each optimisation."""
    folder = tmp_path_factory.mktemp("runner")
    return {level: cortex_m55.build_runner(machine, folder, level) for level in ("-O0", "-Os", "-O2", "-O3")}
