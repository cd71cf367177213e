"""Fixtures that run kernels: plain twins here, Helium paths on a Cortex-M55.

The plain twins are compiled for this host. The Cortex-M55 is emulated.
"""

from pathlib import Path

import pytest

from kernels import cortex_m55
from kernels.helium import Helium
from kernels.host_kernels import HostKernels


@pytest.fixture(scope="session")
def host_kernels(tmp_path_factory: pytest.TempPathFactory) -> HostKernels:
    return HostKernels(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="session")
def machine() -> cortex_m55.Machine:
    return cortex_m55.virtual_board()


class Runners(dict[str, Path]):
    """Programs that run kernels on the machine, by optimisation.

    Each is built when it is first used.
    """

    def __init__(self, machine: cortex_m55.Machine, folder: Path) -> None:
        super().__init__()
        self._machine, self._folder = machine, folder

    def __missing__(self, level: str) -> Path:
        self[level] = cortex_m55.build_runner(self._machine, self._folder, level)
        return self[level]


@pytest.fixture(scope="session")
def runners(machine: cortex_m55.Machine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return Runners(machine, tmp_path_factory.mktemp("runner"))


@pytest.fixture
def helium(host_kernels: HostKernels, machine: cortex_m55.Machine, runners: dict[str, Path], tmp_path: Path) -> Helium:
    return Helium(host_kernels, machine, runners, tmp_path)
