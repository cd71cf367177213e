"""Power cuts, torn and worn sectors, and bits that flip, with the FSBL's C."""

from __future__ import annotations

import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from firmware.cut_recoveries import CUTS as RECOVERY_CUTS
from firmware.cut_updates import CUTS as UPDATE_CUTS
from firmware.host_fsbl import host_board
from firmware.host_recovery import recovery_board

from benchmarks.measure import Head, Rows


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
