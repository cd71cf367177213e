"""The virtual board as a machine that runs the Helium kernels."""

import ctypes
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compiled_objects import compile_objects
from kernel_headers import write_kernel_headers
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import GUEST_TIME_OPTIONS, LIMIT_STATUS, Limits
from n6build.compile.toolchain import CPU
from n6build.describe.hardware.boards import load_board
from patience import NET_S

from kernels.kernel_descriptors import DESCRIPTORS, Case, Image, lay_out

COMPILER = "arm-none-eabi-gcc"
KERNELS_FOLDER = Path(__file__).parents[2] / "firmware" / "kernels"
CFLAGS = (
    "-std=c11",
    *CPU,
    "-ffunction-sections",
    "-fdata-sections",
    "-Wall",
    "-Wextra",
    "-Werror",
)
_HEADER = struct.Struct("<5I")
_RESULT = struct.Struct("<I")


@dataclass(frozen=True)
class Machine:
    """A machine that runs the Helium kernels.

    Addresses are those of the machine's memory.

    Attributes:
        command: Command that runs an ELF file whose path is appended.
        edge: End of a memory with nothing behind it, so that a kernel that reads on faults.
    """

    command: tuple[str, ...]
    code_base: int
    stack_top: int
    arena_base: int
    arena_bytes: int
    edge: int


@dataclass(frozen=True)
class Result:
    """The memory after a call.

    Attributes:
        instructions: Instructions that one call of the kernel executed.
    """

    output: bytes
    instructions: int
    state: bytes = b""


_OPTIONS = ("-nographic", "-monitor", "none", "-serial", "null", *GUEST_TIME_OPTIONS)
_MACHINE = f"stm32n6virt,{Limits(silence=None).options}"
_SEMIHOSTING = ("-semihosting-config", "enable=on,target=native")


def virtual_board() -> Machine:
    """Return the project's machine.

    It has real STM32N6 addresses, and an instruction counter in DWT_CYCCNT.
    """
    return Machine(
        command=(
            str(find_emulator(load_board("nucleo-n657").soc)),
            "-M",
            _MACHINE,
            *_OPTIONS,
            *_SEMIHOSTING,
            "-kernel",
        ),
        code_base=0x34180400,
        stack_top=0x34200000,
        arena_base=0x34000000,
        arena_bytes=0x80000,
        edge=0x30020000,
    )


def build_runner(machine: Machine, folder: Path, optimisation: str = "-O2") -> Path:
    elf = folder / f"runner{optimisation}.elf"
    folder = folder / f"objects{optimisation}"
    folder.mkdir()
    headers = write_kernel_headers(folder / "include")
    rows = (f"{{(void *)n6k_{name}, sizeof({each.name})}},\n" for name, each in DESCRIPTORS.items())
    (headers / "kernel_table.h").write_text("".join(rows))
    here = Path(__file__).parent
    sources = [here / "target_runner.c", *sorted(KERNELS_FOLDER.glob("*.c"))]
    command = [COMPILER, *CFLAGS, optimisation]
    objects = compile_objects(folder, sources, [*command, "-Iinclude"])
    symbols = {"code_base": machine.code_base, "stack_top": machine.stack_top}
    subprocess.run(
        [
            *command,
            "-nostartfiles",
            "--specs=nano.specs",
            "-Wl,--gc-sections,--no-warn-rwx-segments",
            *[f"-Wl,--defsym={name}={address:#x}" for name, address in symbols.items()],
            "-T",
            str(here / "target_runner.ld"),
            "-o",
            str(elf),
            *objects,
        ],
        cwd=folder,
        check=True,
    )
    return elf


@dataclass(frozen=True)
class Call:
    """One call of a kernel.

    Attributes:
        at_edge: The buffer that ends at the end of the machine's memory; None if all are in the
            arena.
    """

    case: Case
    at_edge: str | None = None

    def __str__(self) -> str:
        return f"{self.case}" + (f" with {self.at_edge} at the end of memory" if self.at_edge else "")


def _image(machine: Machine, call: Call) -> tuple[int, Image]:
    base, size = machine.arena_base, None
    if call.at_edge is not None:
        least = len(lay_out(call.case, 0, ctypes.c_uint32, call.at_edge).memory)
        size = (least + 0xFFF) & ~0xFFF
        base = machine.edge - size
    image = lay_out(call.case, base, ctypes.c_uint32, call.at_edge or "output", size)
    assert len(image.memory) <= machine.arena_bytes, f"{call} needs {len(image.memory)} bytes"
    return base, image


def run(machine: Machine, elf: Path, calls: Sequence[Call], folder: Path, repeats: int = 1) -> list[Result]:
    """Run every call in one boot of the machine.

    Args:
        folder: Receives the files exchanged with the machine.
    """
    images = [_image(machine, call) for call in calls]
    stream = bytearray()
    for call, (base, image) in zip(calls, images, strict=True):
        kernel = [*DESCRIPTORS].index(call.case.kernel)
        stream += _HEADER.pack(kernel, repeats, len(image.descriptor), base, len(image.memory))
        stream += image.descriptor + image.memory
    (folder / "cases").write_bytes(stream)
    done = subprocess.run(
        [*machine.command, str(elf)], cwd=folder, capture_output=True, text=True, timeout=NET_S, check=False
    )
    assert done.returncode != LIMIT_STATUS, "a kernel does not end"
    results = (folder / "results").read_bytes()
    answers: list[Result] = []
    for call, (_, image) in zip(calls, images, strict=True):
        end = _RESULT.size + len(image.memory)
        if len(results) < end:
            raise AssertionError(f"the emulator ended with {done.returncode} in {call}: {done.stdout}{done.stderr}")
        (counted,) = _RESULT.unpack_from(results)
        memory = results[_RESULT.size : end]
        assert image.untouched(memory, call.case.scratch), f"{call} wrote outside of its output and scratch"
        instructions = round(counted / repeats)
        answers.append(Result(image.output_of(memory), instructions, image.state_of(memory)))
        results = results[end:]
    assert done.returncode == 0, done.stderr
    return answers
