"""Which epochs read a buffer that was not replaced with the reference's tensor, by what the stream engines touched."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from n6build.network.artifacts.description import EpochBlock
from n6build.network.artifacts.made_buffers import MadeBuffer
from n6build.virtual_board.npu_record import NpuEpoch


def reading_others(
    record: Sequence[NpuEpoch],
    network: int,
    blocks: Sequence[EpochBlock],
    buffers: Sequence[MadeBuffer],
    replaced: Collection[str],
) -> dict[int, int]:
    """Epochs that read a buffer which is not among the `replaced`, each with the epoch that made that buffer, by ST's numbers.

    record: of the run. network: its index in the application. blocks, buffers: all of the network. What the CPU reads is not
    recorded, so that its epochs are never among them.
    """
    found: dict[int, int] = {}
    for run in record:
        if run.network != network or run.place is None or run.place >= len(blocks):
            continue
        block = blocks[run.place]
        epoch = run.label if run.by_blob and block.mapping == "NODE_EC" else block.first
        for unit in run.units:
            source = _latest(unit.first, unit.end, epoch, buffers) if unit.reads else None
            if source and source.name not in replaced:
                found.setdefault(epoch, source.epoch)
    return found


def _latest(first: int, end: int, epoch: int, buffers: Sequence[MadeBuffer]) -> MadeBuffer | None:
    """The buffer that was made last, before this epoch, where an engine reads."""
    there = [
        each
        for each in buffers
        if each.address is not None and each.epoch < epoch and each.address < end and first < each.address + each.bytes
    ]
    return max(there, key=lambda each: each.epoch, default=None)
