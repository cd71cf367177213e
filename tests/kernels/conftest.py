"""What the kernel tests run on: the plain twins compiled for this host, and the Helium paths on an emulated Cortex-M55."""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

sys.path[:0] = [str(Path(__file__).parents[1])]

import machines
from descriptors import Case, lay_out

KERNELS_FOLDER = Path(__file__).parents[2] / "firmware" / "kernels"
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror")


class HostKernels:
    """The plain twins, called in this process."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))

    def run(self, case: Case) -> NDArray[np.generic]:
        size = len(lay_out(case, 0, ctypes.c_uint64).memory)
        store = np.zeros(size + 16, np.uint8)
        offset = -store.ctypes.data % 16
        image = lay_out(case, store.ctypes.data + offset, ctypes.c_uint64)
        store[offset : offset + size] = np.frombuffer(image.memory, np.uint8)
        self._library[f"n6k_plain_{case.kernel}"](ctypes.c_char_p(image.descriptor))
        memory = store[offset : offset + size].tobytes()
        assert image.untouched(memory, case.scratch), f"{case} wrote outside of its output and scratch"
        shape, dtype = case.output
        return np.frombuffer(image.output_of(memory), dtype).reshape(shape)


@pytest.fixture(scope="session")
def host_kernels(tmp_path_factory: pytest.TempPathFactory) -> HostKernels:
    library = tmp_path_factory.mktemp("kernels") / "libkernels.so"
    sources = sorted(str(path) for path in KERNELS_FOLDER.glob("*.c"))
    subprocess.run(
        ["cc", *WARNINGS, "-O2", "-fsanitize=undefined", "-fno-sanitize-recover", "-fPIC", "-shared"]
        + ["-o", str(library), *sources],
        check=True,
    )
    return HostKernels(library)


@pytest.fixture(scope="session")
def machine() -> machines.Machine:
    found = machines.find()
    if found is None:
        pytest.skip("no emulator of a Cortex-M55: neither the virtual board nor qemu-system-arm")
    return found


@pytest.fixture(scope="session")
def runners(machine: machines.Machine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program that runs kernels on the machine, for each optimisation that a firmware may choose."""
    folder = tmp_path_factory.mktemp("runner")
    return {optimisation: machines.build_runner(machine, folder, optimisation) for optimisation in ("-O2", "-O3")}
