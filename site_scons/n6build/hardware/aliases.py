"""The two addresses of everything inside the chip: its secure alias, which this project writes down, and the non-secure one."""

from __future__ import annotations

# Clear in the non-secure alias (reference manual, memory map).
SECURE_BIT = 1 << 28


def secure_alias(address: int) -> int:
    """Of something inside the chip, by either of its addresses."""
    return address | SECURE_BIT


def non_secure_alias(address: int) -> int:
    """Of something inside the chip, by either of its addresses."""
    return address & ~SECURE_BIT


def is_secure_alias(address: int) -> bool:
    """Of something inside the chip."""
    return bool(address & SECURE_BIT)
