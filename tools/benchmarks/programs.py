"""The cost of signatures."""

from __future__ import annotations

import tempfile
from pathlib import Path

from firmware_build import BOARD
from trust_build import cost

from benchmarks.measure import FIGURES, Head, Rows


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
