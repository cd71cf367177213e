"""The speed of the virtual board."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from firmware_build import BOARD, build
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import GUEST_TIME_OPTIONS

from benchmarks.measure import FIGURES, ROOT, Rows, least, run

SPEED = ROOT / "tests" / "virtual_board" / "programs" / "speed.c"
SCRIPT = "SECTIONS { . = 0x34180400; .text : { KEEP(*(.vectors)) *(.text* .rodata*) } .bss : { *(.bss* COMMON) } }"
# The time of a short run, which is that of the start, is subtracted from a long one.
CODES = (("scalar", (1_000, 31_000), "100 M/s, 0.8"), ("Helium", (5_000, 155_000), "75 M/s, 0.8"))


def emulator() -> Rows:
    """Yield the virtual board's instructions in a second of the host's processor."""
    yield FIGURES
    with tempfile.TemporaryDirectory() as name:
        for code, rounds, goal in CODES:
            options = [f"-DHELIUM={int(code == 'Helium')}", "-O2", f"-I{SPEED.parent}"]
            short, long = (
                build(Path(name), f"{code}{each}", [SPEED], SCRIPT, [*options, f"-DROUNDS={each}"]) for each in rounds
            )
            speeds = []
            for cache in ("on", "off"):
                (fewer, less), (more, longer) = _run(short, cache), _run(long, cache)
                speeds.append((more - fewer) / (longer - less))
            ratio = f"{speeds[0] / 1e6:.0f} M/s, {speeds[0] / speeds[1]:.2f} of that without the data cache"
            yield f"virtual board, {code} code", ratio, goal


def _run(elf: Path, cache: str) -> tuple[int, float]:
    """Return the instructions and the host's seconds of a run."""
    findings = elf.with_suffix(".jsonl")
    machine = ("-M", f"stm32n6virt,cache={cache},findings={findings}", "-kernel", str(elf))
    silent = ("-display", "none", "-monitor", "none", "-serial", "null")
    command = [str(find_emulator(BOARD.soc)), *machine, "-semihosting-config", "enable=on,target=native"]
    spent = least(run([*command, *GUEST_TIME_OPTIONS, *silent]) for _ in range(3))
    return int(json.loads(findings.read_text().splitlines()[-1])["instructions"]), spent.cpu
