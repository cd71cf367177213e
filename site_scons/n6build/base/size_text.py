"""Numbers as people write them: of bytes, and of things."""

from __future__ import annotations

import re

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def bytes_of(text: str) -> int | None:
    """Digits with an optional K, M or G (powers of 1024), such as 48M; None for anything else."""
    match = re.fullmatch(r"(\d{1,15})\s*([KMG]?)", text, re.ASCII)
    return int(match[1]) * _UNITS[match[2]] if match else None


def counted(number: int, noun: str) -> str:
    """noun: one, whose plural ends in s. '1 sector', '2 sectors'."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
