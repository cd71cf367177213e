"""The NPU's part of a run: the epochs of each network's first inference, out of the emulator's record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.files import is_file, read_lines
from n6build.network.artifacts.description import NetworkArtifacts
from n6build.run.session import Outcome
from n6build.virtual_board.npu_record import NpuEpoch, UnitWork, epochs_in


@dataclass(frozen=True)
class HardwareEpoch:
    """number: ST's. operators: in it, or where nothing names them, what the units are set to. units: those that were on, in
    their order."""

    number: int
    operators: str
    units: tuple[UnitWork, ...]

    @property
    def macs(self) -> int:
        """Products that the units made, of zeros that the compiler put into kernels, too."""
        return sum(unit.macs for unit in self.units)

    @property
    def reads(self) -> int:
        """Bytes that the stream engines read."""
        return sum(unit.reads for unit in self.units)

    @property
    def writes(self) -> int:
        """Bytes that the stream engines wrote."""
        return sum(unit.writes for unit in self.units)


def with_npu_epochs(outcome: Outcome, record: Path) -> Outcome:
    """record: of the emulator, of any length: it is read until the first inference of each network has ended."""
    if not is_file(record):
        return outcome
    first = first_inferences(epochs_in(read_lines(record), record.name), len(outcome.networks))
    networks = zip(outcome.networks, first, strict=True)
    return replace(outcome, networks=tuple(replace(network, npu_epochs=epochs) for network, epochs in networks))


def first_inferences(epochs: Iterable[NpuEpoch], networks: int) -> list[tuple[NpuEpoch, ...]]:
    """By network. An inference ends where an epoch comes again; what is of none of the networks is left out."""
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
    """With ST's numbers: of a blob's epochs the labels, of others what the table of blocks says of their place."""
    operators = {epoch.index: epoch.kind for epoch in artifacts.epochs}
    numbered = [(_number(epoch, artifacts), epoch) for epoch in epochs]
    return tuple(
        HardwareEpoch(number, operators.get(number) or _what(epoch.units), epoch.units) for number, epoch in numbered
    )


def _what(units: Sequence[UnitWork]) -> str:
    """Of the units that do most, what they are set to, without details: '3x3 stride 1x1, global average'."""
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
