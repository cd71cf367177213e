"""Epochs of the NPU in the emulator's record, for each first inference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.files import is_file, read_lines
from n6build.board.run.session import Outcome
from n6build.board.virtual_board.npu_record import NpuEpoch, UnitWork, epochs_in
from n6build.compile.artifacts.description import NetworkArtifacts


@dataclass(frozen=True)
class HardwareEpoch:
    """An epoch of the NPU in the first inference.

    Attributes:
        number: ST's number.
        operators: Its operators; if they are unknown, the settings of its units.
        units: Active units, in their order.
        layer: Names of its operators, empty if they are unknown.
    """

    number: int
    operators: str
    units: tuple[UnitWork, ...]
    layer: str = ""

    @property
    def macs(self) -> int:
        """Return the products of all units, including those of padding zeros in kernels."""
        return sum(unit.macs for unit in self.units)

    @property
    def reads(self) -> int:
        """Return the bytes that the stream engines read."""
        return sum(unit.reads for unit in self.units)

    @property
    def writes(self) -> int:
        """Return the bytes that the stream engines wrote."""
        return sum(unit.writes for unit in self.units)


def with_npu_epochs(outcome: Outcome, record: Path) -> Outcome:
    """Return an outcome with the NPU epochs of each network.

    Args:
        outcome: Result of a run.
        record: The emulator's record, of any length: it is read until the first inference of each
            network has ended.
    """
    if not is_file(record):
        return outcome
    first = first_inferences(epochs_in(read_lines(record), record.name), len(outcome.networks))
    networks = zip(outcome.networks, first, strict=True)
    return replace(outcome, networks=tuple(replace(network, npu_epochs=epochs) for network, epochs in networks))


def first_inferences(epochs: Iterable[NpuEpoch], networks: int) -> list[tuple[NpuEpoch, ...]]:
    """Return the epochs of each network's first inference.

    An inference ends before a repeated epoch. Epochs of no network are skipped.
    """
    found: list[dict[tuple[int | None, int], NpuEpoch]] = [{} for _ in range(networks)]
    complete: set[int] = set()
    for epoch in epochs:
        if epoch.network is None or epoch.network >= networks or epoch.network in complete:
            continue
        key = (epoch.place, epoch.label)
        if key in found[epoch.network]:
            complete.add(epoch.network)
            if len(complete) == networks:
                break
        else:
            found[epoch.network][key] = epoch
    return [tuple(each.values()) for each in found]


def hardware_epochs(epochs: Sequence[NpuEpoch], artifacts: NetworkArtifacts) -> tuple[HardwareEpoch, ...]:
    """Return the epochs with ST's numbers.

    The number of an epoch in a blob is its label; other numbers come from the table of epoch blocks.
    """
    operators = {epoch.index: epoch.kind for epoch in artifacts.epochs}
    layers = {epoch.index: epoch.name for epoch in artifacts.epochs}
    numbered = [(_number(epoch, artifacts), epoch) for epoch in epochs]
    return tuple(
        HardwareEpoch(number, operators.get(number) or _what(epoch.units), epoch.units, layers.get(number, ""))
        for number, epoch in numbered
    )


def _what(units: Sequence[UnitWork]) -> str:
    """Return the settings of the main units without details.

    An example is '3x3 stride 1x1, global average'.
    """
    for kinds in (("CONVACC", "POOL", "ACTIV"), ("ARITH",)):
        said = dict.fromkeys(unit.what.partition(",")[0] for unit in units if unit.unit.startswith(kinds) and unit.what)
        if said:
            return ", ".join(said)
    return "copy"


def _number(epoch: NpuEpoch, artifacts: NetworkArtifacts) -> int:
    if epoch.by_blob and epoch.label:
        return epoch.label
    place = epoch.place if epoch.place is not None else -1
    return artifacts.blocks[place].first if 0 <= place < len(artifacts.blocks) else place
