"""The epochs of a network as they run: one row for each block of its table.

The numbers of ST's compiler do not matter.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from n6build.compile.artifacts.description import EpochBlock, EpochInfo, NetworkArtifacts


@dataclass(frozen=True)
class TimedEpoch:
    """A row of the table: an epoch, or all epochs of a blob.

    The epochs of a blob of the epoch controller are started and measured as one.

    Attributes:
        first: ST's number of the first epoch.
        last: ST's number of the last epoch.
        count: Epochs in it, without those that nothing runs for.
        kind: Kinds of operators, each once.
        macs: Multiply-accumulates of all epochs, 0 if unknown.
        bytes: Bytes of all epochs, 0 if unknown.
        mapping: Mapping as that of an epoch.
    """

    first: int
    last: int
    count: int
    kind: str
    macs: int
    bytes: int
    mapping: str

    @property
    def number(self) -> str:
        """Return the name of the row, like `epoch_numbers`."""
        return epoch_numbers(self.first, self.last)


def epoch_numbers(first: int, last: int) -> str:
    """Return the name of a row: '7', or '7-12' for a blob of the epoch controller."""
    return str(first) if first == last else f"{first}-{last}"


def timed_epochs(artifacts: NetworkArtifacts) -> tuple[TimedEpoch, ...]:
    """Return the rows in the order in which they run.

    Without a table of blocks, every epoch is a row.
    """
    epochs = sorted(artifacts.epochs, key=lambda epoch: epoch.index)
    numbers = [epoch.index for epoch in epochs]
    # An epoch may have several blocks, such as one for its start and one for its end.
    blocks = {block.first: block for block in reversed(artifacts.blocks)}
    ordered = dict.fromkeys(block.first for block in artifacts.blocks)
    if not ordered:
        return tuple(_row(EpochBlock(epoch.index, epoch.index, epoch.mapping), [epoch]) for epoch in artifacts.epochs)
    return tuple(
        _row(
            blocks[first], epochs[bisect.bisect_left(numbers, first) : bisect.bisect_right(numbers, blocks[first].last)]
        )
        for first in ordered
    )


def _row(block: EpochBlock, inside: Sequence[EpochInfo]) -> TimedEpoch:
    operators = dict.fromkeys(kind for epoch in inside for kind in epoch.kind.split())
    name = inside[0].name if len(inside) == 1 else f"epoch_{block.first}"
    return TimedEpoch(
        first=block.first,
        last=block.last,
        count=len(inside),
        kind=" ".join(operators) or ("epoch controller" if block.mapping == "NODE_EC" else name),
        macs=sum(epoch.macs for epoch in inside),
        bytes=sum(epoch.bytes for epoch in inside),
        mapping=block.mapping,
    )
