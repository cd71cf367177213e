"""Activations in external RAM and their cost.

External RAM is the last resort. n6build takes it automatically, but reports its use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import kib
from n6build.base.size_text import counted
from n6build.compile.memory_pools import MemoryPool, activation_pools, slower
from n6build.compile.reference.epochs import Network
from n6build.compile.reference.placement import Placement
from n6build.compile.reference.traffic import bytes_moved


@dataclass(frozen=True)
class ExternalUse:
    """Use of a memory pool outside the chip.

    Attributes:
        pool: The memory pool.
        buffers: Names of the buffers in it.
        bytes: Size of these buffers together.
        moved: Bytes that an inference reads and writes there, at least.
        slower: Time of a byte there, as a multiple of its time in the chip.
    """

    pool: MemoryPool
    buffers: tuple[str, ...]
    bytes: int
    moved: int
    slower: float

    def __str__(self) -> str:
        cost = f", {self.slower:.0f} times as slow as the chip's own RAM" if self.slower > 1 else ""
        return (
            f"holds {counted(len(self.buffers), 'buffer')} of {kib(self.bytes)} that do not fit into the chip's "
            f"RAM; an inference moves {kib(self.moved)} there{cost}"
        )


def external_uses(network: Network, placement: Placement, pools: Sequence[MemoryPool]) -> tuple[ExternalUse, ...]:
    """Return the uses of pools that are outside the chip and hold activations."""
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
