"""When buffers are in use at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.network.reference.epochs import Buffer

# A D-cache line: cleaning or invalidating one buffer never touches a neighbour. Also what ST's runtime asks of buffers.
ALIGNMENT = 32


def aligned(size: int) -> int:
    """Rounded up to a multiple of ALIGNMENT, in bytes."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def neighbours(buffers: Sequence[Buffer]) -> tuple[tuple[int, ...], ...]:
    """For each buffer the positions of those that are in use together with it at some time."""
    return tuple(
        tuple(j for j, b in enumerate(buffers) if i != j and a.first <= b.last and b.first <= a.last)
        for i, a in enumerate(buffers)
    )


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """Bytes that every placement needs: the most that is in use at one time."""
    times = {buffer.first for buffer in buffers}
    return max(
        (sum(aligned(buffer.bytes) for buffer in buffers if buffer.first <= time <= buffer.last) for time in times),
        default=0,
    )
