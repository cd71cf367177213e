"""Skipped instructions in the verification of an Appli that must not start."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from glitched_boots import WRONG, verifying_fsbl
from n6build.board.virtual_board.source_lines import Places

from benchmarks.measure import Head, Rows


def glitches(stride: int = 1, arithmetic: int = 100, jobs: int = 2) -> Rows:
    """Yield the ends of boots of a verifying FSBL without one instruction.

    Args:
        stride: 1 skips each instruction of the decision, 20 each twentieth.
        arithmetic: The same for numbers, curve and SHA-256.
        jobs: Boots at the same time.
    """
    ends: Counter[tuple[str, str]] = Counter()
    started = []
    with tempfile.TemporaryDirectory() as folder:
        fsbl = verifying_fsbl(Path(folder))
        places = Places([fsbl.elf])
        for each in fsbl.tries(stride, arithmetic, jobs):
            ends[each.wrong, each.end] += 1
            if each.end == "started":
                started.append((each.wrong, f"{each.skipped.text} of {places.of(each.skipped.address)}"))
    yield Head(("wrong Appli", "boots without an instruction", "refused", "stopped or hung", "started"))
    for wrong in WRONG:
        counts = [ends[wrong, end] for end in ("refused", "stopped", "started")]
        yield wrong, *(f"{count:,}" for count in (sum(counts), *counts))
    yield Head(("wrong Appli", "it starts without this instruction"))
    yield from started
