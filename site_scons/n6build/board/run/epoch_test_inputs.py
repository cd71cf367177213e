"""Search for epochs that read a buffer without a tensor of the reference.

The search uses the memory that the stream engines touched.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from n6build.board.virtual_board.npu_record import NpuEpoch
from n6build.compile.artifacts.description import EpochBlock
from n6build.compile.artifacts.made_buffers import MadeBuffer


def reading_others(
    record: Sequence[NpuEpoch],
    network: int,
    blocks: Sequence[EpochBlock],
    buffers: Sequence[MadeBuffer],
    replaced: Collection[str],
) -> dict[int, int]:
    """Return the epochs that read a buffer which was not replaced.

    Keys and values are ST's numbers: the reading epoch, and the epoch that made its buffer. The record
    has no accesses of the CPU, so that no epoch of the CPU is a key.

    Args:
        record: NPU epochs of the run.
        network: Index of the network in the application.
        blocks: All epoch blocks of the network.
        buffers: All buffers of the network.
        replaced: Names of the replaced buffers.
    """
    found: dict[int, int] = {}
    for run in record:
        if run.network != network or run.place is None or run.place >= len(blocks):
            continue
        block = blocks[run.place]
        epoch = run.label if run.by_blob and block.mapping == "NODE_EC" else block.first
        for unit in run.units:
            sources = _latest(unit.first, unit.end, epoch, buffers) if unit.reads else []
            # One memory may have several names, of which one is replaced.
            own = any(source.epoch == epoch or source.name in replaced for source in sources)
            if sources and not own:
                found.setdefault(epoch, sources[0].epoch)
    return found


def _latest(first: int, end: int, epoch: int, buffers: Sequence[MadeBuffer]) -> list[MadeBuffer]:
    """Return the last buffers made in an engine's memory until this epoch."""
    there = [
        each
        for each in buffers
        # An epoch reads the partial sums that it writes; a tensor that it writes may replace the one that it reads.
        if each.address is not None
        and (each.epoch < epoch or (each.epoch == epoch and not each.type))
        and each.address < end
        and first < each.address + each.bytes
    ]
    last = max((each.epoch for each in there), default=0)
    return [each for each in there if each.epoch == last]
