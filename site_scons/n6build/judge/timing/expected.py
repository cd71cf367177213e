"""The expected time of a network and of each epoch, with ranges and unknown facts.

A range holds nine of ten measurements that the model was not fitted to. Each reason that makes it
too narrow (clocks without measurements, measurements that contradict each other) squares the
factors to both of its ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from n6build.judge.timing.classes import time_on_npu
from n6build.judge.timing.conditions import Conditions
from n6build.judge.timing.model import Bound, Span, TimeModel, further, npu_time
from n6build.judge.timing.of_network import EpochWork, NetworkWork

_NS = 1e6
_BY_INSTRUCTIONS = "the CPU's waits for memory are unknown: cycles per instruction only model the core"
_BY_MACS = "cycles per MAC are from another CPU with this core; the difference is unknown"
_IN_BOTH = "the CPU's share of its work was not measured; its range is that of such epochs in other networks"
_NOT_COUNTED = "instructions are not counted: add target run; the range is that of ST's measured operators"
_NO_SIZE = "its size is unknown; its range is that of epochs of NPU and CPU in other networks"
_NOT_MEASURED = "it was not measured on the CPU; its range is that of all operators that were"
_BY_LINE = "the CPU reads its weights from the flash, taken as up to four times slower than the bus"
_AGAIN = "reads the flash repeatedly; the share of the NPU's cache is unknown"
# No measurement says how much slower than the bus the CPU reads: the factor is a guess, which the note says.
_SLOWER_THAN_BUS = 4
_ERRORS = {"stream": "stream", "MACs": "macs", "flash": "flash", "PSRAM": "flash", "overhead": "stream"}


@dataclass(frozen=True)
class EpochTime:
    """The expected time of an epoch.

    Attributes:
        number: ST's number of the epoch.
        kind: Its operators.
        on: NPU, CPU or both.
        bound: Part that decides its time.
        npu: ms of the NPU; the parts overlap.
        flash: ms of the flash.
        cpu: ms of the CPU.
        overhead: ms of overhead.
        start: ms from the start of the network to its begin.
        ms: Expected time.
        low: Lower end of the range.
        high: Upper end of the range; None if only a lower bound is known, which `ms` and `low` then
            are.
        elements: Elements of its widest stream or largest tensor; 0 if unknown.
        flash_bytes: Bytes that it reads from the flash; 0 if unknown.
        notes: Unknown facts, in words.
    """

    number: int
    kind: str
    on: str
    bound: Bound
    npu: float
    flash: float
    cpu: float
    overhead: float
    start: float
    ms: float
    low: float
    high: float | None
    elements: int = 0
    flash_bytes: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Counted:
    """The counted instructions of a run.

    Attributes:
        instructions: Instructions that the CPU executed in each epoch, by its number.
        cycles: Cycles of an instruction.
    """

    instructions: Mapping[int, int]
    cycles: Span

    def cycles_in(self, number: int) -> Span:
        """Return the cycles of an epoch."""
        count = self.instructions[number]
        return Span(count * self.cycles.low, count * self.cycles.value, count * self.cycles.high)


@dataclass(frozen=True)
class NetworkTime:
    """The expected time of a network.

    Attributes:
        at: Clocks.
        epochs: Times of the epochs.
        ms: Expected time, as for an epoch.
        low: Lower end of the range, as for an epoch.
        high: Upper end of the range, as for an epoch.
        notes: Unknown facts, in words.
        estimate: Estimate of ST's compiler in ms; None if it gives none.
        on_npu: Time on the NPU of a network that runs on the CPU by kernels of this project, by
            classes of its operators; None if it has no layers.
    """

    at: Conditions
    epochs: tuple[EpochTime, ...]
    ms: float
    low: float
    high: float | None
    notes: tuple[str, ...]
    estimate: float | None = None
    on_npu: Span | None = None

    def part(self, name: str) -> float:
        """Return the ms of 'npu', 'flash', 'cpu' or 'overhead', of all epochs."""
        return float(sum(getattr(epoch, name) for epoch in self.epochs))


def expected_time(work: NetworkWork, model: TimeModel, at: Conditions, counted: Counted | None = None) -> NetworkTime:
    """Return the expected time of a network.

    Args:
        work: Work of the network.
        model: Model of times.
        at: Clocks.
        counted: Instructions of a run; None if nothing was run.
    """
    wide = _widenings(model, at)
    epochs: list[EpochTime] = []
    start = 0.0
    for each in work.epochs:
        # The cycles of an instruction do not depend on the clock.
        cycles = counted.cycles_in(each.number) if counted and each.number in counted.instructions else None
        if each.on == "CPU":
            found = (
                _on_cpu(each, cycles, "", at) if cycles else _wider(_on_cpu(each, *_cycles(each, model), at), len(wide))
            )
        elif each.on == "both":
            found = _on_both(each, model, at, cycles, len(wide))
        else:
            found = _wider(_on_npu(each, model, at), len(wide))
        epochs.append(replace(found, start=start))
        start += found.ms
    low, high = _sum(epochs, model, len(wide))
    notes = [*wide, *([work.problem] if work.problem else []), *_told(epochs)]
    if any(each.own for each in work.epochs):
        notes.append(_BY_INSTRUCTIONS if counted else _BY_MACS)
    if not epochs:
        notes.append("no file describes its epochs")
    estimate = work.estimate_cycles / at.npu_ghz / _NS if work.estimate_cycles else None
    return NetworkTime(
        at,
        tuple(epochs),
        start,
        low,
        high if epochs else None,
        tuple(notes),
        estimate,
        time_on_npu(work.epochs, model, at, len(wide)),
    )


def _widenings(model: TimeModel, at: Conditions) -> list[str]:
    """Return the reasons to widen the range beyond that of the measurements."""
    clocks = (
        ("CPU", at.cpu_hz, model.measured.cpu),
        ("NPU", at.npu_hz, model.measured.npu),
        ("flash", at.nor_hz, model.measured.nor),
    )
    outside = [
        f"{name} at {span.low:g} to {span.high:g} MHz"
        for name, hz, span in clocks
        if not span.low <= hz / 1e6 <= span.high
    ]
    said = [f"there are no measurements at these clocks, only with the {' and the '.join(outside)}"] if outside else []
    contradicting = [f"measurements behind the model contradict each other: {each}" for each in model.contradictions]
    return [*at.notes, *said, *contradicting]


def _on_npu(work: EpochWork, model: TimeModel, at: Conditions) -> EpochTime:
    notes: list[str] = []
    once, often = work.flash
    # The share of repeated reads that the NPU's cache answers is unknown: between all of them and none.
    found, least, most = (
        npu_time(model.epochs, work.elements or 0, 0, count, at) for count in ((once + often) / 2, once, often)
    )
    if often > once:
        notes.append(_AGAIN)
    error: Span = getattr(model.errors, _ERRORS[found.bound])
    outside = {"CPU": model.by_cpu, "controller": model.by_controller}.get(work.starts or "")
    cpu = Span(*(part / at.cpu_ghz / _NS for part in (outside.low, outside.value, outside.high))) if outside else None
    zero = Span(0.0, 0.0, 0.0)
    around = cpu or zero
    time = EpochTime(
        work.number,
        work.kind,
        work.on,
        found.bound,
        found.compute / _NS,
        found.flash / _NS,
        0.0,
        found.overhead / _NS + around.value,
        0.0,
        found.ns / _NS + around.value,
        least.ns * error.low / _NS + around.low,
        most.ns * error.high / _NS + around.high,
        work.elements or 0,
        (once + often) / 2,
        tuple(notes),
    )
    if around.value > max(time.npu, time.flash):
        time = replace(time, bound="overhead")
    if work.elements is None and work.on == "NPU":
        return _at_least(time, "its data transfers are unknown")
    if work.psram:
        rate = at.psram_bytes_per_ns
        line = work.psram / rate / _NS if rate else 0.0
        time = replace(
            time, ms=max(time.ms, line), low=max(time.low, line), bound="PSRAM" if line > time.npu else time.bound
        )
        return _at_least(time, "moves activations in PSRAM; only the speed limit of its bus is known")
    return time


def _on_both(work: EpochWork, model: TimeModel, at: Conditions, counted: Span | None, reasons: int) -> EpochTime:
    """Return the time of an epoch that NPU and CPU share.

    With counted cycles of the CPU, both parts add up. Without, the longer one of the NPU's part and the
    range of such epochs in other networks is the time.
    """
    on_npu = _wider(_on_npu(work, model, at), reasons)
    low, value, high = ((part / at.cpu_ghz / _NS) for part in vars(counted or model.hybrid).values())
    if counted:
        found = replace(
            on_npu,
            cpu=value,
            ms=on_npu.ms + value,
            low=on_npu.low + low,
            high=None if on_npu.high is None else on_npu.high + high,
        )
    else:
        low, high = (further(value, end, reasons) for end in (low, high))
        found = replace(
            on_npu,
            cpu=value,
            ms=max(on_npu.ms, value),
            low=max(on_npu.low, low),
            high=None if on_npu.high is None else max(on_npu.high, high),
            notes=(*on_npu.notes, _IN_BOTH),
        )
    # A lower bound shows itself as its own expected time.
    ms = found.low if found.high is None else found.ms
    return replace(found, ms=ms, bound="CPU" if value > on_npu.ms else on_npu.bound)


def _on_cpu(work: EpochWork, span: Span, note: str, at: Conditions) -> EpochTime:
    """Return the time of an epoch on the CPU.

    Args:
        work: Work of the epoch.
        span: Cycles.
        note: Reason why their range is wide; empty if they were measured or counted.
        at: Clocks.
    """
    low, value, high = ((part / at.cpu_ghz / _NS) for part in (span.low, span.value, span.high))
    line = work.flash[0] / at.nor_bytes_per_ns / _NS
    time = EpochTime(
        work.number,
        work.kind,
        "CPU",
        "CPU",
        0.0,
        line,
        value,
        0.0,
        0.0,
        max(value, line),
        max(low, line),
        high,
        work.elements or 0,
        work.flash[0],
        (note,) if note else (),
    )
    if line > low:
        time = replace(time, ms=value + line, high=high + _SLOWER_THAN_BUS * line, notes=(*time.notes, _BY_LINE))
    return replace(time, bound="flash") if line > value else time


def _cycles(work: EpochWork, model: TimeModel) -> tuple[Span, str]:
    """Return the CPU's cycles in an epoch, and why their range is wide, or ""."""
    operator = model.operators.get(work.kind.split()[0] if work.kind else "")
    if work.own:
        layer = _layer(work.kind)
        if layer in model.cpu_macs and work.macs:
            return _times(model.cpu_macs[layer], work.macs), ""
        operator, note = None, _NOT_COUNTED
    else:
        note = "" if operator else _NOT_MEASURED
    if not work.elements:
        return model.hybrid, note if work.own else _NO_SIZE
    return _times(operator or model.unmeasured, work.elements), note


def _times(span: Span, count: int) -> Span:
    return Span(count * span.low, count * span.value, count * span.high)


def _layer(kind: str) -> str:
    words = kind.lower()
    if "depthwise" in words:
        return "depthwise"
    if "fully" in words or "gemm" in words or "matmul" in words:
        return "pointwise"
    return "conv" if "conv" in words else ""


def _at_least(time: EpochTime, note: str) -> EpochTime:
    """Return a time as a lower bound, which is shown as one."""
    return replace(time, ms=time.low, high=None, notes=(*time.notes, note))


def _wider(time: EpochTime, reasons: int) -> EpochTime:
    """Widen a range: each reason squares the factors to both ends."""
    high = None if time.high is None else further(time.ms, time.high, reasons)
    return replace(time, low=further(time.ms, time.low, reasons), high=high)


def _sum(epochs: Sequence[EpochTime], model: TimeModel, reasons: int) -> tuple[float, float | None]:
    """Return the range of a network.

    Errors of single epochs even out, so its range is the error of whole networks; the ranges of epochs
    on the CPU or on both, and repeated reads of the flash are added.
    """
    on_npu = [each for each in epochs if each.on == "NPU"]
    on_cpu = [each for each in epochs if each.on != "NPU"]
    error, power = model.errors.network, 2**reasons
    middle = sum(each.ms for each in on_npu)
    again = [each for each in on_npu if _AGAIN in each.notes]
    low = middle * error.low**power - sum(each.ms - each.low for each in again) + sum(each.low for each in on_cpu)
    if any(each.high is None for each in epochs):
        return max(0.0, low), None
    high = middle * error.high**power + sum((each.high or each.ms) - each.ms for each in again)
    return max(0.0, low), high + sum(each.high or 0.0 for each in on_cpu)


def _told(epochs: Sequence[EpochTime]) -> list[str]:
    """Return the unknown facts with their epochs, each once."""
    found: dict[str, list[EpochTime]] = {}
    for epoch in epochs:
        for note in epoch.notes:
            found.setdefault(note, []).append(epoch)
    return [f"{_numbers(those)}: {note}" for note, those in found.items()]


def _numbers(epochs: Sequence[EpochTime]) -> str:
    shown = ", ".join(f"{each.number}" for each in epochs[:6])
    more = f" and {len(epochs) - 6} more" if len(epochs) > 6 else ""
    return f"epoch{'s' if len(epochs) > 1 else ''} {shown}{more}"
