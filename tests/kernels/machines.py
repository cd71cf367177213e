"""Emulated Cortex-M55 machines that run the Helium kernels."""

import ctypes
import os
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from descriptors import KERNELS, Case, lay_out

KERNELS_FOLDER = Path(__file__).parents[2] / "firmware" / "kernels"
CFLAGS = (
    "-std=c11",
    "-mcpu=cortex-m55",
    "-mthumb",
    "-mfloat-abi=hard",
    "-ffunction-sections",
    "-fdata-sections",
    "-Wall",
    "-Wextra",
    "-Werror",
)
_HEADER = struct.Struct("<4I")
_RESULT = struct.Struct("<I")


@dataclass(frozen=True)
class Machine:
    """`command` runs an ELF file whose path is appended to it; addresses are where that machine has memory.

    systick_instructions: how many instructions pass in one tick of SysTick, None where DWT_CYCCNT counts them.
    """

    name: str
    command: tuple[str, ...]
    code_base: int
    stack_top: int
    arena_base: int
    arena_bytes: int
    systick_instructions: float | None


@dataclass(frozen=True)
class Result:
    """What a call left in memory; instructions: executed by one call of the kernel."""

    output: bytes
    instructions: int


def virtual_board(qemu: Path) -> Machine:
    """The project's machine: real STM32N6 addresses, and an instruction counter in DWT_CYCCNT."""
    command = (str(qemu), "-M", "stm32n6virt", "-nographic", "-monitor", "none", "-serial", "null", "-icount", "shift=0")
    return Machine(
        name="stm32n6virt",
        command=(*command, "-semihosting-config", "enable=on,target=native", "-kernel"),
        code_base=0x34180400,
        stack_top=0x34200000,
        arena_base=0x34000000,
        arena_bytes=0x80000,
        systick_instructions=None,
    )


def mps3_an547(qemu: Path) -> Machine:
    """A machine of stock QEMU: SysTick runs at 32 MHz, and an instruction takes a nanosecond."""
    command = (str(qemu), "-M", "mps3-an547", "-nographic", "-monitor", "none", "-serial", "null", "-icount", "shift=0")
    return Machine(
        name="mps3-an547",
        command=(*command, "-semihosting-config", "enable=on,target=native", "-kernel"),
        code_base=0x00000000,
        stack_top=0x00080000,
        arena_base=0x20000000,
        arena_bytes=0x80000,
        systick_instructions=31.25,
    )


def find() -> Machine | None:
    """The virtual board named by N6BUILD_QEMU, else a stock QEMU on PATH, else nothing."""
    named = os.environ.get("N6BUILD_QEMU")
    if named:
        return virtual_board(Path(named))
    stock = shutil.which("qemu-system-arm")
    return mps3_an547(Path(stock)) if stock else None


def build_runner(machine: Machine, folder: Path, optimisation: str = "-O2", compiler: str = "arm-none-eabi-gcc") -> Path:
    elf = folder / f"runner{optimisation}.elf"
    here = Path(__file__).parent
    sources = [here / "target_runner.c", *sorted(KERNELS_FOLDER.glob("*.c"))]
    symbols = {"code_base": machine.code_base, "stack_top": machine.stack_top, "arena_base": machine.arena_base}
    subprocess.run(
        [
            compiler,
            *CFLAGS,
            optimisation,
            f"-DCOUNTER_IS_SYSTICK={int(machine.systick_instructions is not None)}",
            f"-I{KERNELS_FOLDER}",
            "-nostartfiles",
            "--specs=nano.specs",
            "-Wl,--gc-sections,--no-warn-rwx-segments",
            *[f"-Wl,--defsym={name}={address:#x}" for name, address in symbols.items()],
            "-T",
            str(here / "target_runner.ld"),
            "-o",
            str(elf),
            *map(str, sources),
        ],
        check=True,
    )
    return elf


def run(machine: Machine, elf: Path, cases: Sequence[Case], folder: Path, repeats: int = 1) -> list[Result]:
    """Runs every case in one boot of the machine; `folder` receives the files exchanged with it."""
    images = [lay_out(case, machine.arena_base, ctypes.c_uint32) for case in cases]
    stream = bytearray()
    for case, image in zip(cases, images, strict=True):
        assert len(image.memory) <= machine.arena_bytes, f"{case} needs {len(image.memory)} bytes"
        kernel = KERNELS.index(case.kernel)
        stream += _HEADER.pack(kernel, repeats, len(image.descriptor), len(image.memory))
        stream += image.descriptor + image.memory
    (folder / "cases").write_bytes(stream)
    done = subprocess.run(
        [*machine.command, str(elf)], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    results = (folder / "results").read_bytes()
    answers: list[Result] = []
    for case, image in zip(cases, images, strict=True):
        end = _RESULT.size + len(image.memory)
        if len(results) < end:
            raise AssertionError(f"{machine.name} ended with {done.returncode} in {case}: {done.stdout}{done.stderr}")
        (counted,) = _RESULT.unpack_from(results)
        instructions = round(counted / repeats * (machine.systick_instructions or 1))
        memory = results[_RESULT.size : end]
        assert image.untouched(memory, case.scratch), f"{case} wrote outside of its output and scratch"
        answers.append(Result(image.output_of(memory), instructions))
        results = results[end:]
    assert done.returncode == 0, done.stderr
    return answers
