"""What activations in external RAM cost: the last resort is taken by itself, but not in silence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import kib
from n6build.base.size_text import counted
from n6build.network.pools.memory_pools import MemoryPool, activation_pools, slower
from n6build.network.reference.epochs import Network
from n6build.network.reference.placement import Placement
from n6build.network.reference.traffic import bytes_moved


@dataclass(frozen=True)
class ExternalUse:
    """Of one pool outside the chip. bytes: of the buffers in it. moved: bytes that an inference reads and writes there, at least.
    slower: how many times as long a byte takes there as in the chip."""

    pool: MemoryPool
    buffers: tuple[str, ...]
    bytes: int
    moved: int
    slower: float

    def __str__(self) -> str:
        cost = f", {self.slower:.0f} times as slow as the chip's own RAM" if self.slower > 1 else ""
        return (
            f"holds {counted(len(self.buffers), 'buffer')} of {kib(self.bytes)} that the chip's RAM has no room for; "
            f"an inference moves {kib(self.moved)} there{cost}"
        )


def external_uses(network: Network, placement: Placement, pools: Sequence[MemoryPool]) -> tuple[ExternalUse, ...]:
    """Of the pools that are outside the chip and hold activations."""
    moved = bytes_moved(network)
    inside = [pool for pool in activation_pools(pools) if not pool.cacheable]
    found = []
    for pool in activation_pools(pools):
        names = [each.name for each in network.buffers if placement.places[each.name].pool is pool]
        if pool.cacheable and names:
            total = sum(placement.places[name].bytes for name in names)
            found.append(
                ExternalUse(pool, tuple(names), total, sum(moved[name] for name in names), slower(pool, inside))
            )
    return tuple(found)
