"""The memory pools that a profile gives the network compiler on one board."""

from __future__ import annotations

from n6build.boards import Board
from n6build.network.memory_pools import MemoryPool


def pools_of(board: Board, profile_name: str) -> tuple[MemoryPool, ...]:
    """Pools for activations in order of preference; the pool for initializers is marked. Raises N6-BOARD-009."""
    profile = board.profile(profile_name)
    names = [*profile.activations, *([] if profile.weights in profile.activations else [profile.weights])]
    return tuple(_pool(board, name, for_initializers=name == profile.weights) for name in names)


def _pool(board: Board, name: str, *, for_initializers: bool) -> MemoryPool:
    if name in board.soc.pools:
        internal = board.soc.pools[name]
        memory = board.soc.memories[internal.memory]
        return MemoryPool(
            name=name,
            fname=internal.fname,
            address=memory.base,
            size=memory.size,
            rights="ACC_WRITE",
            throughput=internal.throughput,
            latency=internal.latency,
            byte_width=internal.byte_width,
            freq_ratio=internal.freq_ratio,
            read_power=internal.read_power,
            write_power=internal.write_power,
            use_for_initializers=for_initializers,
        )
    external = board.pools[name]
    slot = dict(board.slots.items())[external.slot]
    return MemoryPool(
        name=name,
        fname=external.fname,
        address=slot.address,
        size=slot.size,
        rights="ACC_READ",
        cacheable=external.cacheable,
        throughput=external.throughput,
        latency=external.latency,
        byte_width=external.byte_width,
        freq_ratio=external.freq_ratio,
        read_power=external.read_power,
        write_power=external.write_power,
        use_for_initializers=for_initializers,
    )
