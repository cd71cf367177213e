"""Static memory planning: places in the pools for initializers and activations.

Pools with consecutive addresses are one space. The plan uses as few of the pools as possible, in
their order of preference. It uses external RAM only for buffers that find no place inside the chip.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.compile.memory_pools import (
    MemoryPool,
    RoomierProfile,
    activation_pools,
    check_pools,
    initializer_pools,
)
from n6build.compile.reference.adjacent_pools import JoinedPool, Region, Run, runs_of
from n6build.compile.reference.epochs import Initializer, Network
from n6build.compile.reference.liveness import ALIGNMENT, Block, aligned, blocks_of, lower_bound
from n6build.compile.reference.packing import Layout, Stretch, pack
from n6build.compile.reference.traffic import traffic_of

INITIALIZER_ALIGNMENT = 16
_OTHER_SIZES = "or change the size of a pool with network.pools in model.yaml"


@dataclass(frozen=True)
class Place:
    """Bytes [offset, offset + bytes) of a memory pool.

    Attributes:
        pool: The memory pool, which is a joined one if the bytes cross a border.
        offset: Offset of the first byte from the start of the pool.
        bytes: Number of bytes.
    """

    pool: MemoryPool
    offset: int
    bytes: int

    @property
    def end(self) -> int:
        """Return the offset after the last byte."""
        return self.offset + self.bytes

    @property
    def address(self) -> int:
        """Return the address of the first byte, in an absolute pool."""
        return self.pool.address + self.offset


@dataclass(frozen=True)
class Placement:
    """Places of all initializers and activations of a network.

    Attributes:
        places: Places by name of the buffer or the initializer.
        initializer_pool: The one pool of all initializers.
        initializer_bytes: Bytes that the initializers take.
        joined: Pools that are used as one, because a buffer crosses their border.
        bound: Bytes of activations that every placement needs, in whole cache lines.
        peak: Bytes that the activations take over all pools, in whole cache lines.
    """

    places: dict[str, Place]
    initializer_pool: MemoryPool
    initializer_bytes: int
    joined: tuple[JoinedPool, ...]
    bound: int
    peak: int

    def used_bytes(self, pool: MemoryPool) -> int:
        """Return the bytes from a pool's start to its last used byte.

        They include the part of a joined pool that is in this pool.
        """
        return max((self._end_in(place, pool) for place in self.places.values()), default=0)

    def _end_in(self, place: Place, pool: MemoryPool) -> int:
        """Return a place's end as an offset from the start of `pool`, or 0.

        This pool or the place's pool may be a joined one.
        """
        if any(pool in joined.parts or pool is joined.pool for joined in self._joined_with(place.pool)):
            return max(0, min(place.address + place.bytes - pool.address, pool.size))
        return place.end if place.pool is pool else 0

    def _joined_with(self, pool: MemoryPool) -> list[JoinedPool]:
        return [joined for joined in self.joined if pool is joined.pool or pool in joined.parts]


def place(network: Network, pools: Sequence[MemoryPool], roomier: Sequence[RoomierProfile] = ()) -> Placement:
    """Place the initializers and the activations of a network in memory pools.

    Args:
        network: The network without addresses.
        pools: Memory pools of the profile.
        roomier: Profiles of the board with more RAM, for the hint.

    Raises:
        N6Error: N6-NET-010 if no pool may hold initializers; N6-NET-011 if the pools' names or
            addresses are invalid; N6-NET-012 if the weights do not fit; N6-NET-013 if the
            activations do not fit.
    """
    check_pools(pools, ALIGNMENT)
    weights_pool = initializer_pools(pools)[0]
    initializers = _place_initializers(network.initializers, weights_pool)
    initializer_bytes = max((found.end for found in initializers.values()), default=0)
    regions = []
    for pool in activation_pools(pools):
        start = aligned(initializer_bytes) if pool is weights_pool else 0
        if pool.size > start:
            regions.append(Region(pool, start, pool.size - start))
    blocks = blocks_of(network.buffers)
    bound = lower_bound(blocks)
    layout, runs = _place_activations(blocks, traffic_of(blocks, network), bound, regions, roomier)
    activations = _as_places(network, blocks, layout, runs)
    used = {id(found.pool) for found in activations.values()}
    return Placement(
        places={**initializers, **activations},
        initializer_pool=weights_pool,
        initializer_bytes=initializer_bytes,
        joined=tuple(run.joined for run in runs if len(run.joined.parts) > 1 and id(run.joined.pool) in used),
        bound=bound,
        peak=layout.peak,
    )


def _place_initializers(initializers: Sequence[Initializer], pool: MemoryPool) -> dict[str, Place]:
    """Place the initializers in the order of their use, in which they are read."""
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
            hint=f"choose a profile that keeps the weights in a larger memory; {_OTHER_SIZES}",
        )
    return places


def _place_activations(
    blocks: Sequence[Block],
    traffic: Sequence[int],
    bound: int,
    regions: Sequence[Region],
    roomier: Sequence[RoomierProfile],
) -> tuple[Layout, list[Run]]:
    closest = pack(blocks, [Stretch(sum(aligned(block.bytes) for block in blocks))], traffic, enough=bound)
    for runs in _choices(regions):
        if len(runs) == 1 and closest.peak <= runs[0].size:
            return closest, runs
        if len(runs) > 1 and bound <= sum(run.size for run in runs):
            layout = _pack_into(runs, blocks, traffic)
            if not layout.missing:
                return layout, runs
    runs = runs_of(regions)
    layout = _pack_into(runs, blocks, traffic)
    if layout.missing:
        raise _too_large(blocks, bound, runs, layout.missing, roomier)
    return layout, runs


def _choices(regions: Sequence[Region]) -> Iterator[list[Run]]:
    """Yield the runs to try, in order of preference.

    They are one pool inside the chip, then more and more of them, and finally external RAM, too.
    """
    inside = [region for region in regions if not region.is_external]
    for region in inside:
        yield runs_of([region])
    for count in range(2, len(inside) + 1):
        yield runs_of(inside[:count])
    if len(inside) < len(regions):
        yield runs_of(regions)


def _pack_into(runs: Sequence[Run], blocks: Sequence[Block], traffic: Sequence[int]) -> Layout:
    """Pack blocks into several stretches.

    All blocks have to find a place, and external RAM should hold little. How close they are does
    not matter.
    """
    stretches = [Stretch(run.size, run.is_external) for run in runs]
    return pack(blocks, stretches, traffic, enough=sum(run.size for run in runs))


def _too_large(
    blocks: Sequence[Block], bound: int, runs: Sequence[Run], missing: int, roomier: Sequence[RoomierProfile]
) -> N6Error:
    offered = sum(run.size for run in runs)
    # The buffers without a place may never be in use together, so their sum can exceed the real shortage.
    short = bound - offered if bound > offered else missing
    names = ", ".join(pool.name for run in runs for pool in run.joined.parts) or "none"
    return N6Error(
        "N6-NET-013",
        f"the activations need at least {bound} bytes; {short} bytes do not fit into the {offered} bytes of {names}",
        where="memory pools",
        hint=f"{_more_room(roomier)}; the largest buffer, which needs one piece of memory, has "
        f"{max(block.bytes for block in blocks)} bytes; {_OTHER_SIZES}",
    )


def _more_room(roomier: Sequence[RoomierProfile]) -> str:
    if not roomier:
        return (
            "use a smaller input, fewer channels, or a board with external RAM: this board has no profile with more RAM"
        )
    inside = " or ".join(profile.name for profile in roomier if not profile.external)
    outside = [profile for profile in roomier if profile.external]
    said = [f"use profile={inside}, which has more RAM"] if inside else []
    if outside:
        names = " or ".join(profile.name for profile in outside)
        pools = ", ".join(dict.fromkeys(pool for profile in outside for pool in profile.external))
        cost = max(profile.slower for profile in outside)
        said.append(
            f"use profile={names}, which has more RAM outside the chip ({pools}); a byte there takes {cost:.0f} "
            f"times as long"
        )
    return "; ".join(said)


def _as_places(network: Network, blocks: Sequence[Block], layout: Layout, runs: Sequence[Run]) -> dict[str, Place]:
    places = {}
    for number, block in enumerate(blocks):
        stretch, base = layout.places[number]
        for name, offset in block.offsets.items():
            places[name] = (runs[stretch], base + offset)
    return {buffer.name: _place_in(*places[buffer.name], buffer.bytes) for buffer in network.buffers}


def _place_in(run: Run, offset: int, size: int) -> Place:
    """Return the place at an offset from the start of a run.

    It is in a concrete pool unless it crosses a border.
    """
    address = run.joined.pool.address + run.start + offset
    for pool in run.joined.parts:
        if pool.address <= address and address + size <= pool.end:
            return Place(pool, address - pool.address, size)
    return Place(run.joined.pool, run.start + offset, size)
