"""Bytes of activations that an inference reads and writes.

They serve the choice between memories and the report of its cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from n6build.compile.reference.epochs import Network
from n6build.compile.reference.liveness import Block


def bytes_moved(network: Network) -> Counter[str]:
    """Return the bytes that an inference moves, by name of the buffer.

    Each epoch that makes a buffer writes it once, and each epoch that uses it reads it once.
    Kernels with windows read more than that, from the cache.
    """
    sizes = {buffer.name: buffer.bytes for buffer in network.buffers}
    moved: Counter[str] = Counter()
    for epoch in network.epochs:
        scratch = (epoch.scratch.name, epoch.scratch.name) if epoch.scratch else ()
        for name in (*epoch.inputs, epoch.output, *scratch):
            moved[name] += sizes[name]
    for port in (*network.inputs, *network.outputs):
        moved[port.buffer] += sizes[port.buffer]
    return moved


def traffic_of(blocks: Sequence[Block], network: Network) -> list[int]:
    """Return the bytes that an inference moves, by block.

    They are the sum of `bytes_moved` over the block's buffers.
    """
    moved = bytes_moved(network)
    return [sum(moved[name] for name in block.offsets) for block in blocks]
