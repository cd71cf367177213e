"""Epochs of the NPU in the emulator's record, for each first inference."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.console import clipped, printable
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


# Most epochs that are shown of a network; run.json and the report have all of them.
SHOWN = 20
_RULE = "  " + "-" * 100
_OPERATORS = 28
_NAME = re.compile(r"(\D+)(\d*)")


def npu_table(epochs: Sequence[HardwareEpoch]) -> list[str]:
    """Return a table of the epochs of the first inference.

    If there are many, only those with the most work are shown, in their order. The table has no times, since the virtual NPU
    does not know them. It is empty without epochs.
    """
    if not epochs:
        return []
    busiest = sorted(epochs, key=lambda each: (each.macs, each.reads + each.writes), reverse=True)[:SHOWN]
    others = [epoch for epoch in epochs if epoch not in busiest]
    return [
        f"  {'NPU epoch':<{_OPERATORS + 6}}{'MACs':>14}{'bytes read':>14}{'written':>14}  units",
        _RULE,
        *(
            _row(f"{epoch.number:>4}  {printable(epoch.operators)}", [epoch], units_text(epoch))
            for epoch in epochs
            if epoch in busiest
        ),
        *([_row(f"{len(others):>4}  others, in run.json", others, "")] if others else []),
        _RULE,
        _row(f"{len(epochs):>4}  epochs", epochs, ""),
        _RULE,
        "  The virtual NPU computes with the settings of the units, but does not know their times.",
    ]


def _row(name: str, epochs: Iterable[HardwareEpoch], units: str) -> str:
    macs, reads, writes = (sum(each) for each in zip(*((e.macs, e.reads, e.writes) for e in epochs), strict=True))
    shown = clipped(name, _OPERATORS + 5)
    return f"  {shown:<{_OPERATORS + 6}}{macs:>14,}{reads:>14,}{writes:>14,}  {units}".rstrip()


def units_text(epoch: HardwareEpoch) -> str:
    """Return the computing units, and the bytes that each stream engine moved.

    An example is 'CONVACC 0,1  ARITH 0,3 | in 6:98,304  out 0:24,576'.
    """
    computing = (_NAME.fullmatch(unit.unit) for unit in epoch.units if not is_engine(unit))
    kinds = itertools.groupby((match.groups() for match in computing if match), key=lambda parts: parts[0])
    units = "  ".join(f"{kind} {','.join(index for _, index in group)}".rstrip() for kind, group in kinds)
    engines = [(unit.unit.removeprefix("STRENG"), unit) for unit in epoch.units if is_engine(unit)]
    read = "".join(f" {index}:{engine.reads:,}" for index, engine in engines if engine.reads)
    written = "".join(f" {index}:{engine.writes:,}" for index, engine in engines if engine.writes)
    return f"{units} | {f'in{read}  ' if read else ''}{f'out{written}' if written else ''}".strip(" |")


def is_engine(unit: UnitWork) -> bool:
    """Return true if the unit moves data between memory and the other units."""
    return unit.unit.startswith("STRENG")
