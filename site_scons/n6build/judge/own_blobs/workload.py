"""The work of blobs for each operator: epochs, multiply-accumulates, bytes moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from n6build.base.size_text import counted
from n6build.compile.neural_art.hardware_epoch import HardwareEpoch


@dataclass(frozen=True)
class Work:
    """The work for an operator, or for all operators.

    Attributes:
        name: common name of the epochs.
        epochs: number of epochs.
        macs: multiply-accumulates that the units execute.
        useful: multiply-accumulates of these that the model asks for.
        moved: bytes, counted each time that they are read or written.
    """

    name: str
    epochs: int
    macs: int
    useful: int
    moved: int

    @property
    def useful_text(self) -> str:
        """Text such as '53 % of 3,604,000 MACs', empty without MACs."""
        return f"{100 * self.useful / self.macs:.0f} % of {self.macs:,} MACs" if self.macs else ""


def work_of_operators(epochs: Iterable[HardwareEpoch]) -> list[Work]:
    """Return the work of each operator, in their order.

    A conversion to unsigned for an operator counts as an operator of its own.
    """
    found: dict[str, list[HardwareEpoch]] = {}
    for epoch in epochs:
        found.setdefault(epoch.node.partition("_part_")[0], []).append(epoch)
    return [_together(name, those) for name, those in found.items()]


def whole_work(epochs: Iterable[HardwareEpoch]) -> Work:
    """Return the work of all epochs together."""
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
    """Yield the lines of a table of the work."""
    given = list(epochs)
    operators = work_of_operators(given)
    width = max(len(each.name) for each in operators)
    for each in (*operators, whole_work(given)):
        yield f"{each.name:<{width}}  {counted(each.epochs, 'epoch'):>10}  {each.moved:>11,} bytes  {each.useful_text}".rstrip()
