"""A range of addresses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """A range of bytes, [address, address + size)."""

    address: int
    size: int

    @property
    def end(self) -> int:
        """Return the first address behind the range."""
        return self.address + self.size
