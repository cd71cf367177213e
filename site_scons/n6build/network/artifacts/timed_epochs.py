"""The epochs of a network as they run: one row for each block of its table, whichever numbers ST's compiler gave them."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from n6build.network.artifacts.description import EpochBlock, EpochInfo, NetworkArtifacts


@dataclass(frozen=True)
class TimedEpoch:
    """An epoch, or all that a blob of the epoch controller holds: they are started and measured as one.

    first, last: ST's numbers. count: epochs in it, without those that nothing runs for. kind: the operators in them, each
    once. macs, bytes: of all of them, 0 where they are not known. mapping: as that of an epoch.
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
        """As `epoch_numbers`."""
        return epoch_numbers(self.first, self.last)


def epoch_numbers(first: int, last: int) -> str:
    """How a row of a table is called: '7', or '7-12' of a blob of the epoch controller."""
    return str(first) if first == last else f"{first}-{last}"


def timed_epochs(artifacts: NetworkArtifacts) -> tuple[TimedEpoch, ...]:
    """In the order in which they run; one for each epoch where the table of blocks is not known."""
    epochs = sorted(artifacts.epochs, key=lambda epoch: epoch.index)
    numbers = [epoch.index for epoch in epochs]
    # An epoch may have several blocks: its start, its end.
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
