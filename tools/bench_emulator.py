"""The speed of the virtual board in instructions a second.

It is measured with the data cache modelled and without.
"""

from __future__ import annotations

import json
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from n6build.base.paths import ROOT
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import GUEST_TIME_OPTIONS
from n6build.compile.toolchain import CPU
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.soc_header import HEADERS

PROGRAM = ROOT / "tests" / "virtual_board" / "programs" / "speed.c"
SCRIPT = "SECTIONS { . = 0x34180400; .text : { KEEP(*(.vectors)) *(.text* .rodata*) } .bss : { *(.bss* COMMON) } }"
# The time of a short run, which is that of the start, is subtracted from a long one.
GOALS = {"scalar": "100 M", "Helium": "75 M"}
ROUNDS = {"scalar": (1_000, 31_000), "Helium": (5_000, 155_000)}
REPEATS = 3
SOC = load_board("nucleo-n657").soc


def emulator_speed() -> Iterator[tuple[str, str]]:
    """Yield name and value of each figure."""
    with tempfile.TemporaryDirectory() as name:
        for code, goal in GOALS.items():
            cached, uncached = (speed(Path(name), code, cache) for cache in ("on", "off"))
            yield (
                f"virtual board, {code} code, with the data cache (goal {goal}/s, 0.8)",
                f"{cached / 1e6:.0f} M/s, {cached / uncached:.2f} of that without",
            )


def speed(folder: Path, code: str, cache: str) -> float:
    """Return the instructions in a second of the host's CPU, the best of a few runs.

    Other work on the machine only slows a run.

    Args:
        folder: Folder for the programs.
        code: Kind of code, scalar or Helium.
        cache: Data cache, on or off.
    """
    short, long = (_built(folder, code, rounds) for rounds in ROUNDS[code])
    return max(_between(_timed(folder, short, cache), _timed(folder, long, cache)) for _ in range(REPEATS))


def _between(short: tuple[int, float], long: tuple[int, float]) -> float:
    return (long[0] - short[0]) / (long[1] - short[1])


def _built(folder: Path, code: str, rounds: int) -> Path:
    for header in HEADERS:
        (folder / header.name).write_text(header.text(header.of(SOC)))
    script, elf = folder / "speed.ld", folder / f"{code}-{rounds}.elf"
    script.write_text(SCRIPT)
    defines = [f"-DROUNDS={rounds}", f"-DHELIUM={int(code == 'Helium')}"]
    options = ["-std=c11", "-O2", *CPU, "-nostartfiles", "-Wl,--no-warn-rwx-segments", f"-I{folder}", *defines]
    command = ["arm-none-eabi-gcc", *options, str(PROGRAM), "-T", str(script), "-o", str(elf)]
    subprocess.run(command, check=True)
    return elf


def _spent() -> float:
    """Return the seconds of the host's CPU that child processes used."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def _timed(folder: Path, elf: Path, cache: str) -> tuple[int, float]:
    """Return the instructions and seconds of a run."""
    findings = folder / "findings.jsonl"
    machine = f"stm32n6virt,cache={cache},findings={findings}"
    semihosting = ["-semihosting-config", "enable=on,target=native"]
    command = [str(find_emulator(SOC)), "-M", machine, "-kernel", str(elf), *semihosting, *GUEST_TIME_OPTIONS]
    begin = _spent()
    subprocess.run([*command, "-display", "none", "-monitor", "none", "-serial", "null"], check=True)
    spent = _spent() - begin
    summary = json.loads(findings.read_text().splitlines()[-1])
    return int(summary["instructions"]), spent
