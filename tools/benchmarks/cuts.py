"""Power cuts, torn and worn sectors, and bits that flip, with the FSBL's C."""

from __future__ import annotations

import tempfile
from pathlib import Path

from firmware.cut_updates import CUTS
from firmware.host_fsbl import host_board

from benchmarks.measure import Head, Rows


def cuts(stride: int = 1) -> Rows:
    """Yield the cuts and damages of an update, with the ends of the boards.

    Args:
        stride: 1 tries every byte and bit; 100 each hundredth.
    """
    yield Head(("cut or damage", "tried", "starts", "end with the new Appli", "with an older one", "stopped"))
    with tempfile.TemporaryDirectory() as folder, host_board(Path(folder)) as board:
        for name, cut in CUTS.items():
            found = cut(board, stride)
            numbers = (found.cuts, found.boots, found.new, found.old, found.stopped)
            yield name, *(f"{number:,}" for number in numbers)
