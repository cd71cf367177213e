"""Placement of blocks in a few stretches of memory.

The placement is greedy: in some order of the blocks, each goes to the lowest free offset. Several
orders are tried, and changes to the best one improve it. The seed is fixed: for equal input the
result is equal on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from n6build.compile.reference.liveness import Block, Conflict, aligned, conflicts, fullest_time

# Limits that bound the search to about a second: steps for small networks, comparisons of two blocks for large ones.
_MAX_STEPS = 2_000
_MAX_COMPARISONS = 2_000_000
_SEED = 1


@dataclass(frozen=True)
class Stretch:
    """A stretch of memory.

    Attributes:
        bytes: Size of the stretch.
        costly: True if blocks in it cost more, the more often they are read and written.
    """

    bytes: int
    costly: bool = False


@dataclass(frozen=True)
class Layout:
    """Places of blocks in stretches.

    Attributes:
        places: (stretch, offset) by position of the block.
        missing: Bytes of the blocks without a place.
        cost: Bytes that an inference reads and writes in costly memory.
        ends: Bytes taken of each stretch, in whole cache lines.
    """

    places: dict[int, tuple[int, int]]
    missing: int
    cost: int
    ends: tuple[int, ...]

    @property
    def peak(self) -> int:
        """Return the bytes that are taken in all stretches."""
        return sum(self.ends)

    @property
    def rank(self) -> tuple[int, int, int]:
        """Return the rank for comparisons; a lower rank is better."""
        return self.missing, self.cost, self.peak


def pack(blocks: Sequence[Block], stretches: Sequence[Stretch], traffic: Sequence[int], *, enough: int) -> Layout:
    """Return the best layout that is found.

    The search ends early with a layout that leaves nothing out, costs nothing and takes no more
    than `enough` bytes.

    Args:
        blocks: Blocks to place.
        stretches: Stretches of memory, in order of preference.
        traffic: Bytes that an inference reads and writes, by block.
        enough: Bytes that end the search early.
    """
    search = _Search(blocks, stretches, traffic, conflicts(blocks))
    best, order = None, list[int]()
    for candidate in _orders(blocks, traffic):
        layout = search.place(candidate)
        if best is None or layout.rank < best.rank:
            best, order = layout, candidate
    assert best is not None
    chance = random.Random(_SEED)
    for step in range(search.steps):
        if best.rank <= (0, 0, enough):
            break
        changed = _changed(order, search.highest(best), chance, step)
        layout = search.place(changed)
        if layout.rank <= best.rank:
            best, order = layout, changed
    return best


def _orders(blocks: Sequence[Block], traffic: Sequence[int]) -> Iterator[list[int]]:
    """Yield the orders that the search begins with.

    Each order has other blocks first: the large, the long-lived, both, the much used, or those of
    the fullest epoch, followed by those before and after it.
    """
    sizes = [aligned(block.bytes) for block in blocks]
    lives = [block.lifetime for block in blocks]
    everyone = range(len(blocks))
    yield sorted(everyone, key=lambda number: (-sizes[number], number))
    yield sorted(everyone, key=lambda number: (-sizes[number], -lives[number], number))
    yield sorted(everyone, key=lambda number: (-lives[number], -sizes[number], number))
    yield sorted(everyone, key=lambda number: (-sizes[number] * lives[number], number))
    fullest = fullest_time(blocks)
    away = [max(0, block.first - fullest, fullest - block.last) for block in blocks]
    yield sorted(everyone, key=lambda number: (away[number], -sizes[number], number))
    yield sorted(everyone, key=lambda number: (away[number], -lives[number], -sizes[number], number))
    yield sorted(everyone, key=lambda number: (-traffic[number] / (sizes[number] or 1), -sizes[number], number))


def _changed(order: Sequence[int], highest: Sequence[int], chance: random.Random, step: int) -> list[int]:
    """Return a changed order.

    In turn, two blocks change places, or a block that ends the highest is placed earlier.
    """
    changed = list(order)
    if step % 2 and highest:
        block = highest[chance.randrange(len(highest))]
        position = changed.index(block)
        changed.insert(chance.randrange(position + 1), changed.pop(position))
    elif len(changed) > 1:
        a, b = chance.sample(range(len(changed)), 2)
        changed[a], changed[b] = changed[b], changed[a]
    return changed


class _Search:
    """Data that all layouts of one search share."""

    def __init__(
        self,
        blocks: Sequence[Block],
        stretches: Sequence[Stretch],
        traffic: Sequence[int],
        kept_apart: Sequence[Sequence[Conflict]],
    ) -> None:
        self._sizes = [block.bytes for block in blocks]
        self._stretches = stretches
        self._traffic = traffic
        self._conflicts = kept_apart
        comparisons = 1 + sum(map(len, kept_apart))
        self.steps = min(_MAX_STEPS, _MAX_COMPARISONS // comparisons) if len(blocks) > 1 else 0

    def highest(self, layout: Layout) -> list[int]:
        """Return the blocks to place earlier.

        They are those without a place or in costly memory. If there are none, they are those that
        end at the end of the part taken of their stretch.
        """
        found = [
            number
            for number in range(len(self._sizes))
            if number not in layout.places or self._stretches[layout.places[number][0]].costly
        ]
        return found or [
            number
            for number, (stretch, offset) in layout.places.items()
            if offset + aligned(self._sizes[number]) == layout.ends[stretch]
        ]

    def place(self, order: Sequence[int]) -> Layout:
        """Place the blocks greedily, in this order."""
        places: dict[int, tuple[int, int]] = {}
        ends = [0] * len(self._stretches)
        missing = cost = 0
        for block in order:
            size = self._sizes[block]
            for number, stretch in enumerate(self._stretches):
                offset = self._lowest(block, number, places)
                if offset + size <= stretch.bytes:
                    places[block] = (number, offset)
                    ends[number] = max(ends[number], aligned(offset + size))
                    cost += self._traffic[block] if stretch.costly else 0
                    break
            else:
                missing += aligned(size)
        return Layout(places, missing, cost, tuple(ends))

    def _lowest(self, block: int, stretch: int, places: dict[int, tuple[int, int]]) -> int:
        taken = []
        for conflict in self._conflicts[block]:
            other = places.get(conflict.other)
            if other and other[0] == stretch:
                taken.append((other[1] + conflict.low, other[1] + conflict.high))
        offset = 0
        for low, high in sorted(taken):
            if offset <= low:
                break
            offset = max(offset, high)
        return offset
