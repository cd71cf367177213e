"""Option shard: the part of a matrix that this machine builds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from n6build.base.errors import N6Error
from n6build.describe.option import Setting

T = TypeVar("T")

MOST_SHARDS = 1000


@dataclass(frozen=True)
class Shard:
    """A part of a matrix.

    Attributes:
        number: Number of the part, from 1 to `count`.
        count: Number of all parts.
    """

    number: int
    count: int

    def part_of(self, whole: Sequence[T]) -> Sequence[T]:
        """Return the elements that belong to this part.

        Every element belongs to one part. Neighbours go to different parts, since they take about
        as long.
        """
        return whole[self.number - 1 :: self.count]


def parse_shard(setting: Setting) -> Shard | None:
    """Return the part in a setting, None if nothing is given.

    Raises:
        N6Error: N6-OPTION-002 for another text.
    """
    if not setting.value:
        return None
    found = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", setting.value)
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 0 < number <= count <= MOST_SHARDS:
        what = f"'{setting.value}' is not a shard of a matrix"
        hint = f"write for example shard=3/8, the third of eight shards; at most {MOST_SHARDS}"
        raise N6Error("N6-OPTION-002", what, where=setting.origin, hint=hint)
    return Shard(number, count)
