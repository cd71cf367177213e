"""The two addresses of everything inside the chip: in the secure alias, which the descriptions use, and in the non-secure
one."""

from __future__ import annotations

# Clear in the non-secure alias (reference manual, memory map).
SECURE_BIT = 1 << 28


def secure_alias(address: int) -> int:
    """address: of something inside the chip, in either alias."""
    return address | SECURE_BIT


def non_secure_alias(address: int) -> int:
    """address: of something inside the chip, in either alias."""
    return address & ~SECURE_BIT


def is_secure_alias(address: int) -> bool:
    """address: of something inside the chip."""
    return bool(address & SECURE_BIT)
