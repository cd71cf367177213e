"""What the blobs of a network do for each of its operators: epochs, multiply-accumulates, bytes that the engines move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from n6build.base.size_text import counted
from n6build.network.neural_art.hardware_epoch import HardwareEpoch


@dataclass(frozen=True)
class Work:
    """Of an operator, or of all. name: of its epochs. epochs: how many. macs: that the units execute; useful: of those, the ones
    that the model asks for. moved: bytes, each time that they are read or written."""

    name: str
    epochs: int
    macs: int
    useful: int
    moved: int

    @property
    def useful_text(self) -> str:
        """'53 % of 3,604,000 MACs', empty where there are none."""
        return f"{100 * self.useful / self.macs:.0f} % of {self.macs:,} MACs" if self.macs else ""


def work_of_operators(epochs: Iterable[HardwareEpoch]) -> list[Work]:
    """In their order. What is made unsigned for an operator is work of its own."""
    found: dict[str, list[HardwareEpoch]] = {}
    for epoch in epochs:
        found.setdefault(epoch.node.partition("_part_")[0], []).append(epoch)
    return [_together(name, those) for name, those in found.items()]


def whole_work(epochs: Iterable[HardwareEpoch]) -> Work:
    """Of all of them."""
    return _together("all", list(epochs))


def _together(name: str, epochs: list[HardwareEpoch]) -> Work:
    return Work(
        name,
        len(epochs),
        sum(epoch.macs for epoch in epochs),
        sum(epoch.useful for epoch in epochs),
        sum(epoch.moved for epoch in epochs),
    )


def work_lines(epochs: Iterable[HardwareEpoch]) -> Iterator[str]:
    """A table for people."""
    given = list(epochs)
    operators = work_of_operators(given)
    width = max(len(each.name) for each in operators)
    for each in (*operators, whole_work(given)):
        yield f"{each.name:<{width}}  {counted(each.epochs, 'epoch'):>10}  {each.moved:>11,} bytes  {each.useful_text}".rstrip()
