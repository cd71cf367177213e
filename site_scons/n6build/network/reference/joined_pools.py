"""Memory pools whose addresses follow one another, as one: a buffer may lie across their borders.

As in the files of ST's compiler, such a pool is virtual: it has the joined names of its parts and the worst of their
attributes, and what lies in it counts as use of the concrete ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.network.pools.memory_pools import MemoryPool

_LEVELS = ("LOW", "MID", "HIGH")


@dataclass(frozen=True)
class JoinedPool:
    """pool: of all parts. parts: concrete pools by address, one or more."""

    pool: MemoryPool
    parts: tuple[MemoryPool, ...]


@dataclass(frozen=True)
class Region:
    """The part of a pool that activations may go to: `size` bytes from offset `start`."""

    pool: MemoryPool
    start: int
    size: int

    @property
    def is_external(self) -> bool:
        """Outside the chip: reached through its cache, with a cost."""
        return self.pool.cacheable


@dataclass(frozen=True)
class Run:
    """Regions without a gap between them: `size` bytes from offset `start` of the joined pool."""

    joined: JoinedPool
    start: int
    size: int

    @property
    def is_external(self) -> bool:
        """As of its regions, which are all inside the chip or all outside."""
        return self.joined.pool.cacheable


def runs_of(regions: Sequence[Region]) -> list[Run]:
    """In the order of the regions: each run where its first region is."""
    found: list[list[Region]] = []
    for region in sorted(regions, key=lambda region: region.pool.address):
        if found and _follows(found[-1][-1], region):
            found[-1].append(region)
        else:
            found.append([region])
    found.sort(key=lambda run: min(regions.index(region) for region in run))
    return [Run(_joined([each.pool for each in run]), run[0].start, sum(each.size for each in run)) for run in found]


def _follows(region: Region, following: Region) -> bool:
    absolute = region.pool.mode == following.pool.mode == "USEMODE_ABSOLUTE"
    return (
        absolute
        and region.is_external == following.is_external
        and region.start + region.size == region.pool.size
        and region.pool.end == following.pool.address
        and following.start == 0
    )


def _joined(parts: Sequence[MemoryPool]) -> JoinedPool:
    if len(parts) == 1:
        return JoinedPool(parts[0], tuple(parts))
    return JoinedPool(
        MemoryPool(
            name="_".join(pool.name for pool in parts),
            fname="_".join(pool.fname for pool in parts),
            address=parts[0].address,
            size=sum(pool.size for pool in parts),
            rights="ACC_WRITE",
            cacheable=parts[0].cacheable,
            throughput=min((pool.throughput for pool in parts), key=_LEVELS.index),
            latency=max((pool.latency for pool in parts), key=_LEVELS.index),
            byte_width=min(pool.byte_width for pool in parts),
            freq_ratio=max(pool.freq_ratio for pool in parts),
            read_power=max(pool.read_power for pool in parts),
            write_power=max(pool.write_power for pool in parts),
        ),
        tuple(parts),
    )
