"""Places of inputs and outputs that the application allocates for a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import IoBuffer, NetworkArtifacts
from n6build.place.memory_plan.plan import OwnBuffer, PlannedNetwork, PlannedRegion, PoolUse
from n6build.place.reloc.model_format import up

# Buffers may take one eighth of the Appli's RAM. Code and constants of a large network were observed to take two thirds of it.
_SHARE = 8
# A network's name and one of its buffers.
_Key = tuple[str, OwnBuffer]


def own_buffers(artifacts: NetworkArtifacts) -> tuple[OwnBuffer, ...]:
    """Return the inputs, then the outputs, that the application must allocate."""
    directions: list[tuple[Literal["input", "output"], tuple[IoBuffer, ...]]] = [
        ("input", artifacts.inputs),
        ("output", artifacts.outputs),
    ]
    return tuple(
        OwnBuffer(direction, index, port.bytes)
        for direction, ports in directions
        for index, port in enumerate(ports)
        if port.own
    )


def in_external_ram(
    networks: Sequence[PlannedNetwork],
    pools: Sequence[PoolUse],
    region: PlannedRegion,
    appli_ram: int,
    cache_line: int,
) -> tuple[PlannedNetwork, ...]:
    """Move buffers to external RAM, the largest first.

    Buffers move only if all together would take too much of the Appli's RAM.

    Args:
        networks: Networks with all buffers in the Appli's RAM.
        pools: Pools in use; their part of the region is not free.
        region: Region of the external RAM.
        appli_ram: Bytes of RAM that the Appli is linked to.
        cache_line: Bytes of a cache line; each buffer begins on one.

    Raises:
        N6Error: N6-PLAN-010 if the region has no room for the buffers.
    """
    moved = _too_many(networks, appli_ram // _SHARE)
    inside = (pool.address + pool.used for pool in pools if region.address <= pool.address < region.end)
    free = max(inside, default=region.address)
    starts: dict[_Key, int] = {}
    for key in moved:
        starts[key] = up(free, cache_line)
        free = starts[key] + key[1].bytes
    if moved and free > region.end:
        what = (
            f"inputs and outputs of the application need {free - region.end} bytes more than region '{region.name}' has"
        )
        hint = "compile without --no-inputs-allocation and --no-outputs-allocation, or enlarge the region"
        raise N6Error("N6-PLAN-010", what, where=f"external_ram.regions.{region.name}", hint=hint)
    return tuple(
        replace(
            each,
            own_buffers=tuple(replace(own, address=starts.get((each.name, own), 0)) for own in each.own_buffers),
        )
        for each in networks
    )


def _too_many(networks: Sequence[PlannedNetwork], limit: int) -> list[_Key]:
    """Return the largest buffers, so that the others fit into `limit` bytes."""
    buffers = [(network.name, own) for network in networks for own in network.own_buffers]
    buffers.sort(key=lambda each: -each[1].bytes)
    left = sum(own.bytes for _, own in buffers)
    count = 0
    while left > limit:
        left -= buffers[count][1].bytes
        count += 1
    return buffers[:count]
