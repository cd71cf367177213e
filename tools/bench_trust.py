"""The cost of verifying signed images at a start.

    .venv/bin/python tools/bench_trust.py

It is instructions for a signature and for a byte, milliseconds at each clock profile as an estimate
of one instruction a cycle, and code in the FSBL.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from n6build.base.paths import ROOT
from n6build.describe.hardware.boards import load_board

sys.path.insert(0, str(ROOT / "tests"))
from trust_build import cost

SOC = load_board("nucleo-n657").soc
SIZES = (64 << 10, 1 << 20)


def trust_figures() -> Iterator[tuple[str, str]]:
    """Yield name and value of each figure."""
    with tempfile.TemporaryDirectory() as folder:
        found = cost(Path(folder))
    yield "verification of a signature (limit 12,000,000 instructions)", f"{found.signature:,}"
    yield "digest of what was signed (limit 40 instructions a byte)", f"{found.byte:.1f}"
    yield "verification, in the FSBL", f"{found.code:,} bytes"
    for name in SOC.clock_profiles:
        hz = SOC.clock(name).cpu_hz
        parts = [found.signature, *(found.byte * size for size in SIZES)]
        times = ", ".join(f"{1000 * part / hz:.1f}" for part in parts)
        yield f"estimate at {name}, {hz // 10**6} MHz, one instruction a cycle: signature, 64 KiB, 1 MiB", f"{times} ms"


if __name__ == "__main__":
    for figure, value in trust_figures():
        print(f"{figure:<90}{value}")
