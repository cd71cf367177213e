"""The model of an epoch's time, its parameters, and its errors.

An epoch of the NPU takes the longer of two times, a share of the shorter one, and an overhead:

    compute = max(elements / elements_per_cycle, MACs / macs_per_cycle) NPU cycles, MACs only where no stream is known
    flash   = bytes / (flash_share x rate of the line)
    epoch   = max(compute, flash) + overlap x min(compute, flash) + overhead_cycles NPU cycles

and the CPU's cycles before and after it, or before and after the blob that it is in. Parameters are
data, in MODEL, fitted by tools/fit_timing.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Literal

from n6build.base.errors import N6Error
from n6build.base.paths import BOARDS
from n6build.base.yaml_schema import read_document
from n6build.judge.timing.conditions import Conditions

MODEL = BOARDS / "soc" / "stm32n6-time-model.yaml"

# An epoch waits for elements on its widest stream, for MACs, the flash, PSRAM, the overhead of its start, or the CPU.
Bound = Literal["stream", "MACs", "flash", "PSRAM", "overhead", "CPU"]


@dataclass(frozen=True)
class Span:
    """A number with the smallest and the largest value that it may have."""

    low: float
    value: float
    high: float


@dataclass(frozen=True)
class EpochModel:
    """The parameters of the model, as in the module's docstring.

    `overlap` is the share of the shorter time that is not hidden behind the longer one.
    """

    elements_per_cycle: Span
    macs_per_cycle: Span
    flash_share: Span
    overlap: Span
    overhead_cycles: Span


@dataclass(frozen=True)
class Errors:
    """The errors of the model: measured / expected of data that it was not fitted to.

    Nine of ten factors are in each span.

    Attributes:
        stream: Errors of epochs that wait for a stream.
        macs: Errors of epochs that wait for MACs.
        flash: Errors of epochs that wait for the flash.
        network: Errors of whole networks whose family was left out of the fit.
    """

    stream: Span
    macs: Span
    flash: Span
    network: Span


@dataclass(frozen=True)
class ClassCycles:
    """Cycles for an element of each class of operators.

    Attributes:
        layers: Cycles of the NPU for an element, or for `macs_per_cycle` MACs.
        passes: Cycles of the NPU.
        moved: Cycles of the CPU.
        softmax: Cycles of the CPU.
        floats: Cycles of the CPU.
    """

    layers: Span
    passes: Span
    moved: Span
    softmax: Span
    floats: Span


@dataclass(frozen=True)
class ClassErrors:
    """The errors by class: measured / expected.

    They are of networks whose family was left out of the fit.

    Attributes:
        layers: Errors of convolutions, dense layers and their weights.
        others: Errors of all other operators together; no network shows one of their classes alone.
    """

    layers: Span
    others: Span


@dataclass(frozen=True)
class ClassModel:
    """Costs and errors of classes of operators.

    They are for networks that are not compiled for the NPU.

    Attributes:
        macs_per_cycle: MACs of a layer in a cycle.
        flash_share: Share of the line's rate at which weights come.
        cycles: Cycles of each class.
        errors: Errors of the classes.
    """

    macs_per_cycle: Span
    flash_share: Span
    cycles: ClassCycles
    errors: ClassErrors


@dataclass(frozen=True)
class Measured:
    """The lowest and highest MHz of any measurement."""

    cpu: Span
    npu: Span
    nor: Span


@dataclass(frozen=True)
class TimeModel:
    """The model of times.

    Attributes:
        epochs: Parameters for known streams.
        layers: Parameters for layers whose mapping by ST's compiler is unknown.
        classes: Costs and errors of classes of operators.
        by_cpu: Cycles of the CPU around an epoch without the epoch controller.
        by_controller: Cycles of the CPU around a blob of the epoch controller.
        hybrid: Cycles of the CPU in an epoch that NPU and CPU share.
        errors: Errors of the model.
        operators: Cycles an element, by kind.
        unmeasured: Cycles an element of an operator that was not measured.
        cpu_macs: Cycles a MAC on the CPU, by kind of layer.
        measured: Clocks of the measurements.
        contradictions: Contradictions of measurements, in words.
    """

    epochs: EpochModel
    layers: EpochModel
    classes: ClassModel
    by_cpu: Span
    by_controller: Span
    hybrid: Span
    errors: Errors
    operators: dict[str, Span]
    unmeasured: Span
    cpu_macs: dict[str, Span]
    measured: Measured
    contradictions: tuple[str, ...] = ()


@dataclass(frozen=True)
class NpuTime:
    """The time of an epoch of the NPU.

    Attributes:
        ns: Time in ns; less than the sum of its parts, as the NPU computes while it reads.
        compute: ns of computing.
        flash: ns of reading the flash.
        overhead: ns of overhead.
        bound: Part that it waits for.
    """

    ns: float
    compute: float
    flash: float
    overhead: float
    bound: Bound


def read_model(path: Path = MODEL) -> TimeModel:
    """Read the model of times.

    Raises:
        N6Error: N6-FILE-00x; N6-YAML-00x; N6-TIME-002 for numbers that no fit makes.
    """
    document = read_document(path)
    model = document.load(TimeModel)
    for name, span in _spans(model):
        least = 0 if name.endswith(("overlap", "overhead_cycles")) else 1e-9
        if not least <= span.low <= span.value <= span.high < 1e12:
            what = (
                f"{name} is from {span.low:g} to {span.high:g} with {span.value:g} as the value between them, "
                f"which is impossible"
            )
            hint = "write this file again with tools/fit_timing.py"
            raise N6Error("N6-TIME-002", what, where=document.where(*name.split(".")), hint=hint)
    return model


def _spans(part: object, path: str = "") -> Iterator[tuple[str, Span]]:
    """Yield the spans inside a part of the model, with their dotted paths."""
    if isinstance(part, Span):
        yield path, part
    elif isinstance(part, dict) or is_dataclass(part):
        for name, inner in (part if isinstance(part, dict) else vars(part)).items():
            yield from _spans(inner, f"{path}.{name}" if path else name)


def further(middle: float, end: float, reasons: int) -> float:
    """Return an end of a range, farther from its middle for each reason.

    Each reason squares the factor between them.
    """
    return middle * (end / middle) ** (2**reasons) if middle > 0 else end


def npu_time(model: EpochModel, elements: float, macs: float, flash_bytes: float, at: Conditions) -> NpuTime:
    """Return the time of an epoch of the NPU.

    Args:
        model: Parameters.
        elements: Elements of the widest stream.
        macs: MACs, 0 if streams are known.
        flash_bytes: Bytes that the epoch reads from the flash.
        at: Clocks.
    """
    by_stream = elements / model.elements_per_cycle.value / at.npu_ghz
    by_macs = macs / model.macs_per_cycle.value / at.npu_ghz
    compute = max(by_stream, by_macs)
    flash = flash_bytes / (model.flash_share.value * at.nor_bytes_per_ns)
    overhead = model.overhead_cycles.value / at.npu_ghz
    bounds: dict[Bound, float] = {"stream": by_stream, "MACs": by_macs, "flash": flash, "overhead": overhead}
    longest = max(compute, flash) + model.overlap.value * min(compute, flash)
    return NpuTime(longest + overhead, compute, flash, overhead, max(bounds, key=lambda name: bounds[name]))
