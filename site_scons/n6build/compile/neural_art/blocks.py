"""Blobs of consecutive epochs of the NPU.

Each has the cache maintenance that it needs from the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from n6build.compile.neural_art.lowering import Lowered
from n6build.compile.neural_art.placement import addresses
from n6build.compile.neural_art.program import blob
from n6build.compile.reference.network_sources import Blob
from n6build.compile.reference.placement import Placement
from n6build.describe.hardware.npu import Npu


@dataclass(frozen=True)
class Block:
    """A blob and its words.

    Attributes:
        blob: Name, epochs and buffers of the blob.
        words: Words of the blob.
    """

    blob: Blob
    words: tuple[int, ...]


def blocks_of(npu: Npu, lowered: Lowered, placement: Placement, network_name: str) -> tuple[Block, ...]:
    """Return the blobs in the order in which they run."""
    network, hardware = lowered.network, lowered.hardware
    address_of = addresses(placement)
    outputs = {port.buffer for port in network.outputs}
    blocks = []
    for number, run in enumerate(_runs(sorted(hardware)), 1):
        inside = [hardware[index] for index in run]
        writes = tuple(dict.fromkeys(name for epoch in inside for name in epoch.writes))
        read = dict.fromkeys(name for epoch in inside for name in epoch.reads)
        later = {name for epoch in network.epochs if epoch.index > run[-1] for name in epoch.inputs}
        blocks.append(
            Block(
                Blob(
                    name=f"_ec_blob_{network_name}_{number}",
                    first=run[0],
                    last=run[-1],
                    reads=tuple(name for name in read if name not in writes),
                    writes=writes,
                    leaves=tuple(name for name in writes if name in later or name in outputs),
                    rereads=tuple(name for name in writes if name in read),
                ),
                tuple(blob(npu, [(index, hardware[index]) for index in run], address_of)),
            )
        )
    return tuple(blocks)


def _runs(indices: Sequence[int]) -> Iterator[list[int]]:
    """Yield runs of consecutive indices."""
    run: list[int] = []
    for index in indices:
        if run and index != run[-1] + 1:
            yield run
            run = []
        run.append(index)
    if run:
        yield run
