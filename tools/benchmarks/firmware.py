"""The FSBL and its Applis: cost of signatures, and ends of damaged boots."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from firmware.cut_recoveries import CUTS as RECOVERY_CUTS
from firmware.cut_updates import CUTS as UPDATE_CUTS
from firmware.host_fsbl import host_board
from firmware.host_recovery import recovery_board
from firmware_build import BOARD
from glitched_boots import FLAGS, WRONG, Glitch, verifying_fsbl
from mutated_boots import boot_mutated
from n6build.board.virtual_board.source_lines import Places
from trust_build import cost

from benchmarks.measure import FIGURES, Head, Rows, scons, temporary_project


def trust() -> Rows:
    """Yield the cost of verifying signed images at a start, for docs/security.md."""
    with tempfile.TemporaryDirectory() as folder:
        found = cost(Path(folder))
    yield FIGURES
    yield "instructions for a signature (ECDSA P-256)", f"{found.signature:,}", "22,000,000"
    yield "instructions for each byte that is digested (SHA-256)", f"{found.byte:.1f}", "40"
    yield "instructions for each byte that is decrypted (AES-256)", f"{found.decrypted:.1f}", "220"
    yield "bytes that it adds to the FSBL", f"{found.code:,}", ""
    yield Head(("clock profile", "CPU", "a signature, ms", "64 KiB, ms", "1 MiB, ms", "1 MiB decrypted, ms"))
    for name in BOARD.soc.clock_profiles:
        hz = BOARD.soc.clock(name).cpu_hz
        counts = (
            found.signature,
            found.byte * (64 << 10),
            found.byte * (1 << 20),
            found.decrypted * (1 << 20),
        )
        yield f"`{name}`", f"{hz // 10**6} MHz", *(f"{1000 * count / hz:.1f}" for count in counts)


def mutated_boots(boots: str = "1000", first: str = "0") -> Rows:
    """Yield the ends of boots with damaged FSBL and Appli.

    None may end the emulator. Each number from `first` on is a seed.
    """
    seeds = range(int(first), int(first) + int(boots))
    with temporary_project() as project:
        scons(project, f"board={BOARD.name}", "model=keyword", "probe=virtual", "flash")
        nor = (project / "build" / "virtual_board" / BOARD.name / "nor.bin").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        result = boot_mutated(Path(folder), nor, BOARD, seeds)
    yield FIGURES
    yield "boots of damaged firmware", str(len(seeds)), ""
    for end, count in sorted(result.ends.items()):
        yield f"which ended: {end}", str(count), ""
    yield "with findings", str(result.found), ""
    yield "that ended the emulator or hung it", str(len(result.crashes)), "0"
    for seed, error in result.crashes:
        yield f"seed {seed}", error.splitlines()[0], ""


def cuts(stride: int = 1) -> Rows:
    """Yield the cuts and damages of updates and recoveries, with their ends.

    Args:
        stride: 1 tries every byte and bit; 100 each hundredth.
    """
    yield Head(("cut or damage", "tried", "starts", "end with the new Appli", "with an older one", "stopped"))
    with tempfile.TemporaryDirectory() as folder, host_board(Path(folder)) as board:
        for name, cut in UPDATE_CUTS.items():
            found = cut(board, stride)
            numbers = (found.cuts, found.boots, found.new, found.old, found.stopped)
            yield name, *(f"{number:,}" for number in numbers)
    yield Head(
        ("cut or damage of a recovery", "tried", "start a whole Appli", "wait", "start another", "recoveries", "lost")
    )
    with tempfile.TemporaryDirectory() as folder, recovery_board(Path(folder)) as recovered:
        for name, cut_recovery in RECOVERY_CUTS.items():
            # Each recovery says how long it takes.
            with redirect_stdout(StringIO()):
                end = cut_recovery(recovered, stride)
            counts = (end.cuts, end.whole, end.waiting, end.damaged, end.recoveries, end.lost)
            yield name, *(f"{number:,}" for number in counts)


def glitches(stride: int = 1, arithmetic: int = 100, skips: int = 1000, flips: int = 2200, jobs: int = 2) -> Rows:
    """Yield the ends of boots with skipped instructions or flipped bits.

    Args:
        stride: 1 skips all executions of each instruction of the decision, 20 of each twentieth, 0 of none.
        arithmetic: The same for numbers, curve and SHA-256.
        skips: Random single executions that are skipped.
        flips: Random bits of registers that flip before an execution of an instruction that reads them.
        jobs: Boots at the same time.
    """
    ends: Counter[tuple[str, str, str]] = Counter()
    started = []
    with tempfile.TemporaryDirectory() as folder:
        fsbl = verifying_fsbl(Path(folder))
        places = Places([fsbl.elf])
        kinds = {
            "all executions skipped": fsbl.skips(stride, arithmetic, jobs) if stride else (),
            "one execution skipped": fsbl.random_skips(skips, jobs),
            "a bit of a register flipped": fsbl.random_flips(flips, jobs),
        }
        for kind, tries in kinds.items():
            for each in tries:
                ends[kind, each.wrong, each.end] += 1
                if each.end == "started":
                    place = f"{each.glitch.at.text} of {places.of(each.glitch.at.address)}"
                    started.append((kind, each.wrong, place, _detail(each.glitch)))
    yield Head(("glitch", "wrong Appli", "boots", "refused", "stopped or hung", "started", "not executed"))
    for kind in kinds:
        for wrong in WRONG:
            counts = [ends[kind, wrong, end] for end in ("refused", "stopped", "started")]
            yield kind, wrong, *(f"{count:,}" for count in (sum(counts), *counts, ends[kind, wrong, "not executed"]))
    yield Head(("glitch", "wrong Appli", "it starts with a glitch at", "detail"))
    yield from started


def _detail(glitch: Glitch) -> str:
    if glitch.register is None:
        return f"execution {glitch.execution}" if glitch.execution else ""
    register = "flags" if glitch.register == FLAGS else f"r{glitch.register}"
    return f"execution {glitch.execution}, bit {glitch.bit} of {register}"
