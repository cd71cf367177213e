"""Secure and non-secure addresses of registers and memories inside the chip.

Everything inside the chip has two addresses: one in the secure alias, which the descriptions use,
and one in the non-secure alias.
"""

from __future__ import annotations

# This bit is clear in the non-secure alias (reference manual, memory map).
SECURE_BIT = 1 << 28


def secure_alias(address: int) -> int:
    """Return an address inside the chip in the secure alias.

    Args:
        address: address in either alias.
    """
    return address | SECURE_BIT


def non_secure_alias(address: int) -> int:
    """Return an address inside the chip in the non-secure alias.

    Args:
        address: address in either alias.
    """
    return address & ~SECURE_BIT


def is_secure_alias(address: int) -> bool:
    """Return whether an address inside the chip is in the secure alias."""
    return bool(address & SECURE_BIT)
