"""A range of addresses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """Bytes [address, address + size)."""

    address: int
    size: int

    @property
    def end(self) -> int:
        """The first address behind the range."""
        return self.address + self.size
