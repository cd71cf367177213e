"""Blocks of buffers, and the conflicts that keep two blocks apart.

Two blocks conflict if they are in use at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from n6build.compile.reference.epochs import Buffer

# Bytes of a D-cache line, so that cleaning or invalidating a buffer never affects a neighbour. ST's runtime requires it, too.
ALIGNMENT = 32


def aligned(size: int) -> int:
    """Return a size in bytes, rounded up to a multiple of ALIGNMENT."""
    return -(-size // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class Part:
    """Bytes [start, end) of a block, in use from epoch `first` to `last`.

    They are whole cache lines.
    """

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True)
class Block:
    """Buffers at fixed distances from one another, which are placed as one.

    Attributes:
        bytes: Size up to the end of the last buffer.
        offsets: Offsets of the buffers by name, in bytes.
        parts: Ranges of bytes with the epochs that use them.
    """

    bytes: int
    offsets: dict[str, int]
    parts: tuple[Part, ...]

    @property
    def first(self) -> int:
        """Return the first epoch that uses any part of it."""
        return min(part.first for part in self.parts)

    @property
    def last(self) -> int:
        """Return the last epoch that uses any part of it."""
        return max(part.last for part in self.parts)

    @property
    def lifetime(self) -> int:
        """Return the number of epochs from the first use to the last."""
        return self.last - self.first + 1

    def in_use(self, time: int) -> int:
        """Return the bytes in use at one time; bytes that buffers share count once."""
        total = end = 0
        for start, stop in sorted((part.start, part.end) for part in self.parts if part.first <= time <= part.last):
            total += max(0, stop - max(start, end))
            end = max(end, stop)
        return total


@dataclass(frozen=True)
class Conflict:
    """Distances of a block from another at which they would share memory.

    Attributes:
        other: Number of the other block.
        low: Lower limit of the distances in bytes, excluded.
        high: Upper limit of the distances in bytes, excluded.
    """

    other: int
    low: int
    high: int


def blocks_of(buffers: Sequence[Buffer]) -> tuple[Block, ...]:
    """Return the blocks, in the order of the buffers that have memory of their own."""
    by_name = {buffer.name: buffer for buffer in buffers}
    members: dict[str, list[tuple[Buffer, int]]] = {}
    for buffer in buffers:
        root, offset = root_of(buffer, by_name)
        members.setdefault(root.name, []).append((buffer, offset))
    return tuple(_block(members[buffer.name]) for buffer in buffers if buffer.inside is None)


def root_of(buffer: Buffer, by_name: Mapping[str, Buffer]) -> tuple[Buffer, int]:
    """Return the buffer that owns a buffer's memory, and the offset there in bytes."""
    offset = 0
    while buffer.inside is not None:
        offset += buffer.inside.offset
        buffer = by_name[buffer.inside.name]
    return buffer, offset


def _block(members: Sequence[tuple[Buffer, int]]) -> Block:
    parts: list[Part] = []
    for buffer, offset in sorted(members, key=lambda member: (member[1], member[0].bytes, member[0].first)):
        start, end = offset // ALIGNMENT * ALIGNMENT, aligned(offset + buffer.bytes)
        before = parts[-1] if parts else None
        if before and (before.start, before.end) == (start, end) and buffer.first <= before.last + 1:
            parts[-1] = Part(start, end, before.first, max(before.last, buffer.last))
        else:
            parts.append(Part(start, end, buffer.first, buffer.last))
    return Block(
        bytes=max(offset + buffer.bytes for buffer, offset in members),
        offsets={buffer.name: offset for buffer, offset in members},
        parts=tuple(parts),
    )


def conflicts(blocks: Sequence[Block]) -> tuple[tuple[Conflict, ...], ...]:
    """Return the conflicts of each block with others."""
    found: list[list[Conflict]] = [[] for _ in blocks]
    parts = sorted(
        ((part.first, number, part) for number, block in enumerate(blocks) for part in block.parts), key=_when
    )
    in_use: list[tuple[int, Part]] = []
    for first, i, a in parts:
        in_use = [(j, b) for j, b in in_use if b.last >= first]
        for j, b in in_use:
            if i != j:
                found[i].append(Conflict(j, b.start - a.end, b.end - a.start))
                found[j].append(Conflict(i, a.start - b.end, a.end - b.start))
        in_use.append((i, a))
    return tuple(map(tuple, found))


def _when(part: tuple[int, int, Part]) -> tuple[int, int]:
    return part[:2]


def lower_bound(blocks: Sequence[Block]) -> int:
    """Return the bytes that every placement needs: the most in use at one time."""
    return max(_in_use(blocks).values(), default=0)


def fullest_time(blocks: Sequence[Block]) -> int:
    """Return the first epoch at which the most bytes are in use."""
    in_use = _in_use(blocks)
    return max(sorted(in_use), key=lambda time: in_use[time], default=0)


def _in_use(blocks: Sequence[Block]) -> dict[int, int]:
    """Return the bytes in use for each epoch at which a part becomes used."""
    times = dict.fromkeys(sorted({part.first for block in blocks for part in block.parts}), 0)
    for block in blocks:
        for time in range(block.first, block.last + 1):
            if time in times:
                times[time] += block.in_use(time)
    return times
