"""A compiled network on the host, as a shared library.

The library has network.c, the epoch runtime and the plain kernels. Memory pools are mapped at the
addresses that they have on the board, which are free in a 64-bit process.
"""

import ctypes
import mmap
import os
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from compiled_objects import compile_objects, seen_from
from compiler_cache import host_compiler
from kernel_headers import write_kernel_headers
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.reference.compile_model import compile_network
from numpy.typing import NDArray

FIRMWARE = Path(__file__).parents[2] / "firmware"
KERNELS, RUNTIME = FIRMWARE / "kernels", FIRMWARE / "runtime"
RUNTIME_WITHOUT_NPU = (
    RUNTIME / "ll_aton_runtime.c",
    RUNTIME / "ll_aton_caches.c",
    Path(__file__).parents[1] / "without_npu.c",
)
HARNESS = Path(__file__).parent / "host_network.c"
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror")
NAME = "network"

_MAP_FIXED_NOREPLACE = 0x100000
_PIECE = 64 << 10
_AFTER_EPOCH = ctypes.CFUNCTYPE(None, ctypes.c_uint32)


def npu_ram_pools() -> list[MemoryPool]:
    return [
        MemoryPool(f"npuRAM{bank}", f"AXISRAM{bank}", 0x34200000 + (bank - 3) * 0x70000, 0x70000, "ACC_WRITE")
        for bank in (3, 4, 5, 6)
    ]


def extflash() -> list[MemoryPool]:
    flash = MemoryPool(
        "octoFlash", "xSPI2", 0x71000000, 0x3000000, "ACC_READ", cacheable=True, use_for_initializers=True
    )
    return [*npu_ram_pools(), flash]


def noextmem() -> list[MemoryPool]:
    """Return pools for weights in npuRAM5, without external memory.

    Activations go there, behind the weights, when the other banks are full.
    """
    ram3, ram4, _, ram6 = npu_ram_pools()
    ram5 = MemoryPool("npuRAM5", "AXISRAM5", 0x342E0000, 0x70000, "ACC_WRITE", use_for_initializers=True)
    return [ram3, ram4, ram6, ram5]


@cache
def _compiled(folder: Path) -> tuple[Path, ...]:
    """Compile the parts that all networks of a test session share, once.

    The kernels have no state: they are one shared library. Runtime and harness are objects. Undefined
    behaviour is trapped.
    """
    write_kernel_headers(folder / "include")
    command = _command(folder, folder)
    library = "libkernels.so"
    of_kernels = compile_objects(folder, sorted(KERNELS.glob("*.c")), command)
    subprocess.run([*command, "-shared", "-o", library, *of_kernels, "-lm"], cwd=folder, check=True)
    others = compile_objects(folder, [*RUNTIME_WITHOUT_NPU, HARNESS], command)
    return tuple(folder.absolute() / name for name in (*others, library))


def _command(folder: Path, objects: Path) -> list[str]:
    """Return the compiler's command for this folder.

    Paths are relative to the folder, so that ccache finds the objects of an earlier test run.
    """
    sanitizer = ["-fsanitize=undefined", "-fno-sanitize-recover"]
    includes = [f"-I{os.path.relpath(objects / 'include', folder)}", f"-I{seen_from(folder, RUNTIME)}"]
    return [*host_compiler(), *WARNINGS, "-O2", "-fPIC", *sanitizer, *includes]


def _map_pool(pool: MemoryPool) -> None:
    """Map a pool piece by piece, since pools of two tests may share pieces."""
    for piece in range(pool.address // _PIECE, -(-pool.end // _PIECE)):
        _map(piece * _PIECE, _PIECE)


@cache
def _map(address: int, size: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED_NOREPLACE
    found = libc.mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    assert found == address, f"cannot map {size} bytes at 0x{address:08X}: {os.strerror(ctypes.get_errno())}"


class HostNetwork:
    """One compiled model.

    `trace` runs it and returns the bytes of every buffer right after the epoch that makes it.
    """

    def __init__(self, model: Path, pools: Sequence[MemoryPool], folder: Path, objects: Path) -> None:
        self.model, self.folder = model, folder
        compile_network(model, pools, folder, NAME)
        self.artifacts: NetworkArtifacts = read_artifacts(folder, NAME)
        library = folder / "network.so"
        compiled = _compiled(objects)
        compiler = _command(folder, objects)
        subprocess.run([*compiler, "-c", "network.c", "-o", "network.o"], cwd=folder, check=True)
        # The compiler driver takes 15 ms more to link. The libraries that it would add are those of the kernels'
        # library.
        subprocess.run(["ld", "-shared", "-o", library.name, "network.o", *compiled], cwd=folder, check=True)
        self._library = ctypes.CDLL(str(library))
        self._library.host_run.argtypes = self._library.host_run_again.argtypes = [_AFTER_EPOCH]
        self._library.host_buffer_name.restype = ctypes.c_char_p
        self._library.host_buffer_address.restype = ctypes.c_size_t
        for pool in pools:
            _map_pool(pool)
        self._pools = list(pools)
        self.inputs = self._buffers(0)
        self.outputs = self._buffers(1)
        self.internals = self._buffers(2)

    def _buffers(self, kind: int) -> list[tuple[str, int, int]]:
        """Return (name, address, bytes) of the buffers in the network's own description."""
        found: list[tuple[str, int, int]] = []
        while name := self._library.host_buffer_name(kind, len(found)):
            index = len(found)
            if self._library.host_buffer_is_param(kind, index):
                break
            address = self._library.host_buffer_address(kind, index)
            found.append((name.decode(), address, self._library.host_buffer_bytes(kind, index)))
        return found

    def trace(self, inputs: Sequence[NDArray[np.generic]]) -> dict[str, bytes]:
        """Run one inference; return the bytes of each buffer by its name."""
        return self.trace_inferences([inputs])[0]

    def trace_inferences(self, runs: Sequence[Sequence[NDArray[np.generic]]]) -> list[dict[str, bytes]]:
        """Return `trace` of several inferences of a network that is initialised once."""
        try:
            return [
                self._trace(self._library.host_run_again if number else self._library.host_run, inputs)
                for number, inputs in enumerate(runs)
            ]
        finally:
            self._library.host_end()

    def _trace(self, run: Callable[..., int], inputs: Sequence[NDArray[np.generic]]) -> dict[str, bytes]:
        """Run one inference in memory that is filled with a pattern.

        Only the states keep their content, so that nothing depends on other old content.
        """
        states = [
            (address, ctypes.string_at(address, size))
            for name, address, size in self.internals
            if name.startswith("State_")
        ]
        for pool in self._pools:
            used = next(found.used_bytes for found in self.artifacts.pools if found.name == pool.name)
            ctypes.memset(pool.address, 0xA5, used)
        for address, data in states if run is not self._library.host_run else []:
            ctypes.memmove(address, data, len(data))
        for image in self.artifacts.initializers:
            data = image.file.read_bytes()
            ctypes.memmove(image.address, data, len(data))
        for (_, address, size), values in zip(self.inputs, inputs, strict=True):
            data = np.ascontiguousarray(values).tobytes()
            assert len(data) == size
            ctypes.memmove(address, data, size)
        made = {name: (address, size) for name, address, size in [*self.outputs, *self.internals]}
        by_node = {
            epoch.index: [name for name in made if name.startswith(f"{epoch.name}_out")]
            for epoch in self.artifacts.epochs
        }
        seen: dict[str, bytes] = {}

        def after_epoch(index: int) -> None:
            for name in by_node[index]:
                seen[name] = ctypes.string_at(*made[name])

        ran = run(_AFTER_EPOCH(after_epoch))
        assert ran == len(self.artifacts.epochs)
        self.final = {name: ctypes.string_at(address, size) for name, address, size in self.outputs}
        for image in self.artifacts.initializers:
            assert ctypes.string_at(image.address, image.bytes) == image.file.read_bytes(), (
                "an epoch wrote to the weights"
            )
        return seen


# A function that compiles and links a model for the host, as fixture `host_network` gives it.
Build = Callable[..., HostNetwork]
