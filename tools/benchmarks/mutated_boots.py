"""Boots of randomly damaged firmware, none of which may end the emulator."""

from __future__ import annotations

import tempfile
from pathlib import Path

from mutated_boots import boot_mutated
from n6build.describe.hardware.boards import load_board

from benchmarks.measure import FIGURES, Rows, scons, temporary_project

BOARD = "nucleo-n657"


def mutated_boots(boots: str = "1000", first: str = "0") -> Rows:
    """Yield the ends of boots with damaged FSBL and Appli.

    Each number from `first` on is a seed.
    """
    seeds = range(int(first), int(first) + int(boots))
    with temporary_project() as project:
        scons(project, f"board={BOARD}", "model=keyword", "probe=virtual", "flash")
        nor = (project / "build" / "virtual_board" / BOARD / "nor.bin").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        result = boot_mutated(Path(folder), nor, load_board(BOARD), seeds)
    yield FIGURES
    yield "boots of damaged firmware", str(len(seeds)), ""
    for end, count in sorted(result.ends.items()):
        yield f"which ended: {end}", str(count), ""
    yield "with findings", str(result.found), ""
    yield "that ended the emulator or hung it", str(len(result.crashes)), "0"
    for seed, error in result.crashes:
        yield f"seed {seed}", error.splitlines()[0], ""
