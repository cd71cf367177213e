"""The plain twins of the kernels, compiled for this host."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
from compiled_objects import compile_objects
from compiler_cache import host_compiler
from kernel_headers import write_kernel_headers
from numpy.typing import NDArray

from kernels.cortex_m55 import KERNELS_FOLDER
from kernels.kernel_descriptors import Case, lay_out


class HostKernels:
    """The twins, called in this process; undefined behaviour ends it."""

    def __init__(self, folder: Path) -> None:
        library = folder / "libkernels.so"
        write_kernel_headers(folder / "include")
        flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover"]
        command = [*host_compiler(), *flags, "-fPIC"]
        objects = compile_objects(folder, sorted(KERNELS_FOLDER.glob("*.c")), [*command, "-Iinclude"])
        subprocess.run([*command, "-shared", "-o", str(library), *objects, "-lm"], cwd=folder, check=True)
        self._library = ctypes.CDLL(str(library))

    def call(self, kernel: str, descriptor: bytes) -> None:
        """Call the twin of a kernel with a descriptor of this host's addresses."""
        self._library[f"n6k_plain_{kernel}"](ctypes.c_char_p(descriptor))

    def run(self, case: Case) -> NDArray[np.generic]:
        return self.run_with_state(case)[0]

    def run_with_state(self, case: Case) -> tuple[NDArray[np.generic], bytes]:
        size = len(lay_out(case, 0, ctypes.c_uint64).memory)
        store = np.zeros(size + 16, np.uint8)
        offset = -store.ctypes.data % 16
        image = lay_out(case, store.ctypes.data + offset, ctypes.c_uint64)
        store[offset : offset + size] = np.frombuffer(image.memory, np.uint8)
        self.call(case.kernel, image.descriptor)
        memory = store[offset : offset + size].tobytes()
        assert image.untouched(memory, case.scratch), f"{case} wrote outside of its output and scratch"
        shape, dtype = case.output
        return np.frombuffer(image.output_of(memory), dtype).reshape(shape), image.state_of(memory)
