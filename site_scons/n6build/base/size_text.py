"""Numbers as people write them: sizes in bytes, and counts of things."""

from __future__ import annotations

import re

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def bytes_of(text: str) -> int | None:
    """Return the number of bytes in a text such as 48M, None for any other text.

    The text has digits and an optional K, M or G (powers of 1024).
    """
    match = re.fullmatch(r"(\d{1,15})\s*([KMG]?)", text, re.ASCII)
    return int(match[1]) * _UNITS[match[2]] if match else None


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as '1 sector' or '2 sectors'.

    Args:
        number: The number.
        noun: Singular of a noun whose plural ends in s.
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
