"""A compiled network on an emulated Cortex-M55.

It has network.c, the epoch runtime and the Helium kernels.
"""

import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from compiled_objects import compile_objects
from kernel_headers import write_kernel_headers
from kernels.cortex_m55 import virtual_board
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.toolchain import CPU
from numpy.typing import NDArray
from patience import NET_S

from network.host_network import KERNELS, RUNTIME, RUNTIME_WITHOUT_NPU, WARNINGS

HERE = Path(__file__).parent
# This RAM is on after reset: the program powers no bank and maps no flash.
POOLS = [
    MemoryPool("ram", "FLEXRAM", 0x34000000, 0x64000, "ACC_WRITE"),
    MemoryPool("flash", "AXISRAM2", 0x34100000, 0x80000, "ACC_READ", use_for_initializers=True),
]


COMPILER = ["arm-none-eabi-gcc", *WARNINGS, "-O3", *CPU, "-ffunction-sections"]


def kernels_archive(folder: Path) -> Path:
    """Build the archive of kernels and epoch runtime that all networks share.

    The headers are beside it. This machine has neither caches nor an NPU.
    """
    (write_kernel_headers(folder) / "n6_cache.h").write_text(
        "#include <stdint.h>\n"
        + "".join(
            f"static inline void n6_dcache_{verb}(uintptr_t a, uint32_t n) {{ (void)a; (void)n; }}\n"
            for verb in ("clean", "invalidate", "clean_invalidate")
        )
    )
    sources = [*RUNTIME_WITHOUT_NPU, *sorted(KERNELS.glob("*.c"))]
    objects = compile_objects(folder, sources, [*COMPILER, "-I.", f"-I{RUNTIME}"])
    made = folder / "libnetworks.a"
    subprocess.run(["arm-none-eabi-gcc-ar", "rcs", made.name, *objects], cwd=folder, check=True)
    return made


class TargetNetwork:
    """A compiled network with its program.

    Attributes:
        artifacts: Those of the network.
    """

    def __init__(self, model: Path, pools: Sequence[MemoryPool], folder: Path, archive: Path) -> None:
        """Compile the model, and link the network with all that it needs."""
        compile_network(model, pools, folder)
        self.artifacts = read_artifacts(folder, "network")
        self._elf = folder / "network.elf"
        sources = [folder / "network.c", HERE / "target_network.c", archive]
        includes = [f"-I{path}" for path in (folder, archive.parent, RUNTIME)]
        link = ["-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections", f"-T{HERE / 'target_network.ld'}"]
        subprocess.run([*COMPILER, *includes, *map(str, sources), *link, "-o", str(self._elf)], check=True)

    def run(self, *runs: Sequence[NDArray[np.generic]]) -> bytes:
        """Return the tensors of all epochs of all inferences, in sequence.

        Args:
            runs: Inputs of each inference.
        """
        folder = self._elf.parent
        loaded = [(image.address, image.file.read_bytes()) for image in self.artifacts.initializers if image.bytes]
        for number, inputs in enumerate(runs):
            loaded += [(0, b"")] if number else []
            for port, values in zip(self.artifacts.inputs, inputs, strict=True):
                assert port.address is not None
                loaded.append((port.address, values.tobytes()))
        memory = b"".join(struct.pack("<2I", address, len(data)) + data for address, data in loaded)
        (folder / "memory.bin").write_bytes(memory)
        command = [*virtual_board().command, str(self._elf)]
        result = subprocess.run(command, cwd=folder, timeout=NET_S, stdin=subprocess.DEVNULL, check=False)
        ended = "9: the processor faulted" if result.returncode == 9 else f"exit {result.returncode}"
        assert result.returncode == 0, ended
        return (folder / "outputs.bin").read_bytes()


# A function that compiles a model and links its program, as fixture `target_network` gives it.
BuildTarget = Callable[..., TargetNetwork]
