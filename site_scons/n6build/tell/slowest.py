"""The epochs that take longest, each with its reason, for the top of a report."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.console import kib
from n6build.judge.timing.expected import EpochTime
from n6build.judge.timing.timing_table import rows_text
from n6build.tell.content import EpochRow, NetworkSection, Report

SHOWN = 5


@dataclass(frozen=True)
class SlowEpoch:
    """An epoch among the slowest, or all epochs in a blob.

    Attributes:
        row: The epoch.
        share: Share of the network's time, 0 to 1.
        takes: Its time in words, such as '1.768 to 3.535 ms'.
        why: Reason for its time in words.
    """

    row: EpochRow
    share: float
    takes: str
    why: str


@dataclass(frozen=True)
class SlowNetwork:
    """The slowest epochs of a network.

    Attributes:
        model: Name of the model.
        measure: Name of the compared figure, such as 'cycles of the board'.
        rows: Number and kind of what was compared, such as '12 epochs'.
        epochs: The slowest epochs, the slowest first.
    """

    model: str
    measure: str
    rows: str
    epochs: tuple[SlowEpoch, ...]

    @property
    def sentence(self) -> str:
        """Return a sentence on the share of these epochs, without its full stop."""
        share = sum(each.share for each in self.epochs)
        return f"{self.model}: the slowest {len(self.epochs)} of {self.rows} take {share:.1%} of the {self.measure}"


def slowest(report: Report) -> tuple[SlowNetwork, ...]:
    """Return the slowest epochs of each network whose times are known.

    Cycles that a board measured decide. Without them, the expected time on the chip decides, and
    without both the instructions that the virtual board counted.
    """
    counted = "instructions" if report.meanings else "cycles"
    found = (_slowest(network, counted) for network in report.networks)
    return tuple(each for each in found if each.epochs)


def _slowest(network: NetworkSection, counted: str) -> SlowNetwork:
    times = {row.index: _times(network, row) for row in network.epochs}
    expected = {index: sum(each.ms for each in inside) for index, inside in times.items()}
    counts = {row.index: float(row.cycles or 0) for row in network.epochs}
    if (counted == "instructions" and any(expected.values())) or not any(counts.values()):
        measure, values = "expected time on the chip", expected
    else:
        measure, values = f"{counted} of the {'virtual ' * (counted == 'instructions')}board", counts
    whole = sum(values.values())
    ordered = sorted(network.epochs, key=lambda row: (-values[row.index], row.index))
    epochs = tuple(
        SlowEpoch(
            row,
            values[row.index] / whole,
            rows_text(network.time, row.index, _last(row))
            if network.time and values is expected
            else f"{row.cycles or 0:,} {counted}",
            _why(row, times[row.index], counted),
        )
        for row in ordered[:SHOWN]
        if values[row.index] > 0
    )
    kind = "epochs" if network.epoch_count == len(network.epochs) else "blobs and single epochs"
    return SlowNetwork(network.model, measure, f"{len(network.epochs)} {kind}", epochs)


def _last(row: EpochRow) -> int:
    return row.index if row.last is None else row.last


def _times(network: NetworkSection, row: EpochRow) -> list[EpochTime]:
    epochs = network.time.epochs if network.time else ()
    return [each for each in epochs if row.index <= each.number <= _last(row)]


def _why(row: EpochRow, times: list[EpochTime], counted: str) -> str:
    longest = max(times, key=lambda each: each.ms, default=None)
    bound = longest.bound if longest else "CPU" if row.unit == "CPU" else "MACs"
    if longest and bound == "stream":
        why = f"NPU: {longest.elements:,} elements on its widest stream"
    elif longest and bound == "flash":
        why = f"flash: {kib(round(longest.flash_bytes))} to read"
    elif bound == "PSRAM":
        why = "PSRAM: activations are in it"
    elif bound == "overhead":
        why = "start and end: longer than its work"
    elif row.unit == "both":
        why = "NPU and CPU share it"
    else:
        why = f"{row.unit}: {_work(row, counted)}"
    return f"{why}, in epoch {longest.number}" if longest and len(times) > 1 else why


def _work(row: EpochRow, counted: str) -> str:
    if not row.macs:
        return f"{kib(row.bytes)} of tensors" if row.bytes else "all of it"
    if not row.cycles or row.unit != "CPU":
        return f"{row.macs:,} MACs"
    return f"{row.macs:,} MACs, {row.cycles / row.macs:.2f} {counted} each"
