"""The memory pools that a profile gives the network compiler on one board."""

from __future__ import annotations

from n6build.boards import Board, ExternalPool
from n6build.network.memory_pools import MemoryPool
from n6build.soc import InternalPool


def pools_of(board: Board, profile_name: str) -> tuple[MemoryPool, ...]:
    """Pools for activations in order of preference; the pool for initializers is marked. Raises N6-BOARD-009."""
    profile = board.profile(profile_name)
    names = [*profile.activations, *([] if profile.weights in profile.activations else [profile.weights])]
    return tuple(_pool(board, name, for_initializers=name == profile.weights) for name in names)


def _pool(board: Board, name: str, *, for_initializers: bool) -> MemoryPool:
    described: InternalPool | ExternalPool
    if name in board.soc.pools:
        described = board.soc.pools[name]
        memory = board.soc.memories[described.memory]
        address, size, external = memory.base, memory.size, False
    else:
        described = board.pools[name]
        slot = dict(board.slots.items())[described.slot]
        address, size, external = slot.address, slot.size, True
    return MemoryPool(
        name=name,
        fname=described.fname,
        address=address,
        size=size,
        rights="ACC_READ" if external else "ACC_WRITE",
        # The NPU's cache serves external memory only.
        cacheable=external,
        use_for_initializers=for_initializers,
        throughput=described.throughput,
        latency=described.latency,
        byte_width=described.byte_width,
        freq_ratio=described.freq_ratio,
        read_power=described.read_power,
        write_power=described.write_power,
    )
