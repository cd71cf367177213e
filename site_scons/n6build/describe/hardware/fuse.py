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
