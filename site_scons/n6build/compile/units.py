"""Sizes as the reports of memory pools print them: units of 1024, three decimals."""

from __future__ import annotations


def human_bytes(count: int) -> str:
    """Return a size such as '512 B', '1.500 kB', '2.250 MB'."""
    if count < 1024:
        return f"{count} B"
    if count < 1024 * 1024:
        return f"{count / 1024:.3f} kB"
    return f"{count / 1024 / 1024:.3f} MB"
