"""Fields of registers."""

from __future__ import annotations


def field_bits(bits: int | tuple[int, ...]) -> tuple[int, int]:
    """bits: a bit, or [lowest, highest]. -> (lowest bit, mask)."""
    low, high = (bits, bits) if isinstance(bits, int) else (bits[0], bits[-1])
    return low, ((1 << (high - low + 1)) - 1) << low
