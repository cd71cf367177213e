"""Glitches in the verification of an Appli that must not start."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from glitched_boots import FLAGS, WRONG, Glitch, verifying_fsbl
from n6build.board.virtual_board.source_lines import Places

from benchmarks.measure import Head, Rows


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
