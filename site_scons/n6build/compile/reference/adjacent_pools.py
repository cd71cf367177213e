"""Memory pools with consecutive addresses, joined into one.

A buffer may cross the borders of the joined pools. As in the files of ST's compiler, a joined pool
is virtual. It has the joined names of its parts and the worst of their attributes. Its contents
count as use of the concrete pools.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.compile.memory_pools import MemoryPool

_LEVELS = ("LOW", "MID", "HIGH")


@dataclass(frozen=True)
class JoinedPool:
    """A pool that joins concrete pools.

    Attributes:
        pool: Pool of all parts.
        parts: Concrete pools by address, one or more.
    """

    pool: MemoryPool
    parts: tuple[MemoryPool, ...]


@dataclass(frozen=True)
class Region:
    """The part of a pool that activations may use.

    Attributes:
        pool: The pool.
        start: Offset of the part in the pool, in bytes.
        size: Bytes of the part.
    """

    pool: MemoryPool
    start: int
    size: int

    @property
    def is_external(self) -> bool:
        """Return whether the region is outside the chip.

        Such a region is accessed through its cache, at a cost.
        """
        return self.pool.cacheable


@dataclass(frozen=True)
class Run:
    """Regions without a gap between them.

    Attributes:
        joined: Pool that joins the regions' pools.
        start: Offset of the first region in the joined pool, in bytes.
        size: Bytes of all regions.
    """

    joined: JoinedPool
    start: int
    size: int

    @property
    def is_external(self) -> bool:
        """Return whether the regions are outside the chip.

        The regions of a run are all inside or all outside.
        """
        return self.joined.pool.cacheable


def runs_of(regions: Sequence[Region]) -> list[Run]:
    """Return the runs of regions without gaps.

    They follow the order of the regions. A run comes at the place of its first region.
    """
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
