"""Static memory planning: where in the pools each initializer and each activation lies.

Activations: greedy in an order of the buffers, each to the lowest free offset; the order starts with the largest buffer and
is improved by swapping, with a fixed seed. For equal input the result is equal on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.network.pools.memory_pools import MemoryPool, activation_pools, check_pools, initializer_pools
from n6build.network.reference.epochs import Buffer, Initializer, Network
from n6build.network.reference.liveness import ALIGNMENT, aligned, lower_bound, neighbours

INITIALIZER_ALIGNMENT = 16
# Bounds the search to some tenths of a second: steps for small networks, comparisons of two buffers for large ones.
_MAX_SWAPS = 2_000
_MAX_COMPARISONS = 2_000_000
_SEED = 1


@dataclass(frozen=True)
class Place:
    """Bytes [offset, offset + bytes) of a pool."""

    pool: MemoryPool
    offset: int
    bytes: int

    @property
    def end(self) -> int:
        """Offset after the last byte."""
        return self.offset + self.bytes

    @property
    def address(self) -> int:
        """Of the first byte, in an absolute pool."""
        return self.pool.address + self.offset


@dataclass(frozen=True)
class Placement:
    """places: by name of buffer or initializer. initializers: the one pool of them all, with the bytes they take.

    bound: bytes of activations that every placement needs. peak: what they take, over all pools; both in whole cache lines.
    """

    places: dict[str, Place]
    initializer_pool: MemoryPool
    initializer_bytes: int
    bound: int
    peak: int

    def used_bytes(self, pool: MemoryPool) -> int:
        """From the pool's start to the end of the last thing in it."""
        return max((place.end for place in self.places.values() if place.pool is pool), default=0)


@dataclass(frozen=True)
class _Region:
    """The part of a pool that activations may go to."""

    pool: MemoryPool
    start: int
    size: int


@dataclass(frozen=True)
class _Layout:
    """places: (region, offset) by position of the buffer. missing: bytes of buffers that found no place."""

    places: dict[int, tuple[int, int]]
    missing: int
    peak: int

    @property
    def cost(self) -> tuple[int, int]:
        return self.missing, self.peak


def place(network: Network, pools: Sequence[MemoryPool], roomier: Sequence[str] = ()) -> Placement:
    """roomier: profiles of the board with more RAM, for the hint. Raises N6-NET-010, N6-NET-011 (pools), N6-NET-012 (weights do
    not fit), N6-NET-013 (activations do not fit)."""
    check_pools(pools, ALIGNMENT)
    weights_pool = initializer_pools(pools)[0]
    places = _place_initializers(network.initializers, weights_pool)
    initializer_bytes = max((found.end for found in places.values()), default=0)
    regions = []
    for pool in activation_pools(pools):
        start = aligned(initializer_bytes) if pool is weights_pool else 0
        if pool.size > start:
            regions.append(_Region(pool, start, pool.size - start))
    activations = _place_activations(network.buffers, regions, roomier)
    return Placement(
        places={**places, **activations},
        initializer_pool=weights_pool,
        initializer_bytes=initializer_bytes,
        bound=lower_bound(network.buffers),
        peak=sum(
            aligned(max(found.end for found in activations.values() if found.pool is region.pool)) - region.start
            for region in regions
            if any(found.pool is region.pool for found in activations.values())
        ),
    )


def _place_initializers(initializers: Sequence[Initializer], pool: MemoryPool) -> dict[str, Place]:
    """In the order of their use, which is how they are read."""
    places = {}
    offset = 0
    for initializer in initializers:
        places[initializer.name] = Place(pool, offset, len(initializer.data))
        offset = -(-(offset + len(initializer.data)) // INITIALIZER_ALIGNMENT) * INITIALIZER_ALIGNMENT
    end = max((found.end for found in places.values()), default=0)
    if end > pool.size:
        raise N6Error(
            "N6-NET-012",
            f"the weights need {end} bytes, {end - pool.size} bytes more than memory pool {pool.name} has ({pool.size})",
            where=f"memory pool {pool.name}",
            hint="choose a profile that keeps the weights in a larger memory",
        )
    return places


def _place_activations(
    buffers: Sequence[Buffer], regions: Sequence[_Region], roomier: Sequence[str]
) -> dict[str, Place]:
    bound = lower_bound(buffers)
    together = neighbours(buffers)
    unlimited = [sum(aligned(buffer.bytes) for buffer in buffers)]
    layout = _search(buffers, together, unlimited, enough=bound)
    for region in regions:
        if layout.peak <= region.size:
            return _as_places(buffers, layout, [region])
    # In several pools it matters that all find a place, not how closely they are packed.
    capacities = [region.size for region in regions]
    layout = _search(buffers, together, capacities, enough=sum(capacities))
    if layout.missing:
        offered = sum(region.size for region in regions)
        names = ", ".join(region.pool.name for region in regions) or "none"
        lacking = max(bound - offered, layout.missing)
        raise N6Error(
            "N6-NET-013",
            f"the activations need at least {bound} bytes; {lacking} bytes find no place in the {offered} bytes of {names}",
            where="memory pools",
            hint=f"{_more_room(roomier)}; each buffer has to lie in one pool, the largest has "
            f"{max(buffer.bytes for buffer in buffers)} bytes",
        )
    return _as_places(buffers, layout, regions)


def _more_room(roomier: Sequence[str]) -> str:
    if roomier:
        return f"profile={' or '.join(roomier)} has more RAM"
    return "the board has no profile with more RAM: a smaller input or fewer channels, or a board with external RAM"


def _as_places(buffers: Sequence[Buffer], layout: _Layout, regions: Sequence[_Region]) -> dict[str, Place]:
    places = {}
    for position, buffer in enumerate(buffers):
        number, offset = layout.places[position]
        region = regions[number]
        places[buffer.name] = Place(region.pool, region.start + offset, buffer.bytes)
    return places


def _search(
    buffers: Sequence[Buffer], together: Sequence[Sequence[int]], capacities: Sequence[int], *, enough: int
) -> _Layout:
    """The best layout found; the search ends early with one that leaves nothing out and takes no more than `enough`."""
    count = len(buffers)
    order = sorted(range(count), key=lambda position: (-buffers[position].bytes, position))
    best = _in_order(buffers, together, capacities, order)
    comparisons = 1 + sum(len(others) for others in together)
    chance = random.Random(_SEED)
    for _ in range(min(_MAX_SWAPS, _MAX_COMPARISONS // comparisons) if count > 1 else 0):
        if best.cost <= (0, enough):
            break
        a, b = chance.sample(range(count), 2)
        order[a], order[b] = order[b], order[a]
        layout = _in_order(buffers, together, capacities, order)
        if layout.cost <= best.cost:
            best = layout
        else:
            order[a], order[b] = order[b], order[a]
    return best


def _in_order(
    buffers: Sequence[Buffer], together: Sequence[Sequence[int]], capacities: Sequence[int], order: Sequence[int]
) -> _Layout:
    places: dict[int, tuple[int, int]] = {}
    ends = [0] * len(capacities)
    missing = 0
    for position in order:
        size = aligned(buffers[position].bytes)
        for region, capacity in enumerate(capacities):
            taken = sorted(
                (places[other][1], places[other][1] + aligned(buffers[other].bytes))
                for other in together[position]
                if other in places and places[other][0] == region
            )
            offset = _lowest_gap(taken, size)
            if offset + buffers[position].bytes <= capacity:
                places[position] = (region, offset)
                ends[region] = max(ends[region], offset + size)
                break
        else:
            missing += size
    return _Layout(places, missing, sum(ends))


def _lowest_gap(taken: Sequence[tuple[int, int]], size: int) -> int:
    """taken: [start, end) by start."""
    offset = 0
    for start, end in taken:
        if offset + size <= start:
            break
        offset = max(offset, end)
    return offset
