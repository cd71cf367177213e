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


class Runners(dict[str, Path]):
    """By optimisation, the program that runs kernels on the machine: built when it is first asked for."""

    def __init__(self, machine: cortex_m55.Machine, folder: Path) -> None:
        super().__init__()
        self._machine, self._folder = machine, folder

    def __missing__(self, level: str) -> Path:
        self[level] = cortex_m55.build_runner(self._machine, self._folder, level)
        return self[level]


@pytest.fixture(scope="session")
def runners(machine: cortex_m55.Machine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return Runners(machine, tmp_path_factory.mktemp("runner"))
