"""How many bytes of activations an inference reads and writes, for the choice between memories and what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from n6build.network.reference.epochs import Network
from n6build.network.reference.liveness import Block


def bytes_moved(network: Network) -> Counter[str]:
    """By name of the buffer: written once by each epoch that makes it, read once by each that uses it. Kernels with windows read
    more than that, from the cache."""
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
    """By block, `bytes_moved` of its buffers."""
    moved = bytes_moved(network)
    return [sum(moved[name] for name in block.offsets) for block in blocks]
