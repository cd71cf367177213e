"""Words of fuses in board and chip descriptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from n6build.base.yaml_schema import Address, Range


@dataclass(frozen=True)
class Fuse:
    """A word of fuses.

    Attributes:
        word: Number of the word.
        value: Value of 32 bits.
    """

    word: Annotated[int, Range(0, 383)]
    value: Address


@dataclass(frozen=True)
class RomFuses:
    """Fuses that decide which FSBLs the boot ROM starts.

    Source: tables 7 and 22 of ST's UM3234.

    Attributes:
        key_digest: First of the eight words with the digest of the keys.
        active_key: Word whose highest blown bit, counted from 1, is the lowest number of a key in use.
        version: First of the two words whose highest blown bit, counted from 1, is the lowest version of an FSBL.
        life_cycle: Word with the life cycle.
        locked: Bits of that word; any of them closes the chip.
        provisioned: Bits of that word; without one, a closed chip starts ST's own FSBL only.
        closing: Words that close a chip.
    """

    key_digest: Annotated[int, Range(0, 376)]
    active_key: Annotated[int, Range(0, 383)]
    version: Annotated[int, Range(0, 382)]
    life_cycle: Annotated[int, Range(0, 383)]
    locked: Address
    provisioned: Address
    closing: tuple[Fuse, ...]
