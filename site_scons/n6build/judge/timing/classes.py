"""The time on the NPU of a network, by classes of operators.

It is for networks of which only the operators are known.

ST's compiler fuses some operators into the epoch of a layer, gives others an epoch of their own, and
leaves the rest to the CPU. Published networks show these classes, and each class has its own cost:

    layers   convolutions and dense layers: elements that they make, or their MACs / macs_per_cycle
    passes   operators with an epoch of their own: elements that they make
    moved    operators that move elements by the CPU's hand: elements that they make
    softmax  elements of a Softmax on the CPU
    floats   elements that become float on the CPU

Additions are fused with the layer before them, and changed shapes cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from n6build.judge.timing.conditions import Conditions
from n6build.judge.timing.facts import OperatorClass, OperatorWork
from n6build.judge.timing.model import ClassModel, Span, TimeModel, further
from n6build.judge.timing.of_network import EpochWork

_NS = 1e6
_JOINED = "Concatenation"
_FUSED = frozenset({"Add", "Reshape", "Relu", "Relu6", "Squeeze", "ExpandDims"})
_MOVED = frozenset(
    {"Transpose", "Pad", "MirrorPad", "Tile", "Gather", "SpaceToDepth", "DepthToSpace", "SpaceToBatchNd"}
)
_BY_CPU: dict[str, OperatorClass] = {"Softmax": "softmax", "LogSoftmax": "softmax", "Dequantize": "floats"}


def class_of(kind: str, macs: int) -> OperatorClass | None:
    """Return the class of an operator, or None if it costs no time of its own.

    Args:
        kind: Kind of the operator, as this project's compiler names it.
        macs: Its multiply-accumulates.
    """
    if macs:
        return "layers"
    if kind in _FUSED:
        return None
    if kind in _MOVED or kind.startswith("Resize"):
        return "moved"
    return _BY_CPU.get(kind, "passes")


def class_work(epochs: Sequence[EpochWork], macs_per_cycle: float) -> OperatorWork:
    """Return the work of epochs by classes, of kernels of this project only.

    A concatenation is a copy for each of its inputs, each with the whole output; it counts once.
    """
    sums = dict.fromkeys(OperatorWork.classes(), 0.0)
    before = ("", 0)
    for each in epochs:
        name = class_of(each.kind, each.macs) if each.own and each.made else None
        again, before = (each.kind, each.made) == before and each.kind == _JOINED, (each.kind, each.made)
        if again:
            continue
        if name == "layers":
            widest = max(each.made, each.elements or 0) if "depthwise" in each.kind.lower() else each.made
            sums[name] += max(widest, each.macs / macs_per_cycle)
        elif name:
            sums[name] += each.made
    return OperatorWork("", *(round(value) for value in sums.values()))


def class_times(work: OperatorWork, flash_bytes: float, model: ClassModel, at: Conditions) -> tuple[float, float]:
    """Return the ms of layers with their weights, and the ms of all other operators.

    Args:
        work: Work by classes.
        flash_bytes: Bytes of weights.
        model: Costs of the classes.
        at: Clocks.
    """
    cycles = model.cycles
    layers = work.layers * cycles.layers.value / at.npu_ghz + flash_bytes / (
        model.flash_share.value * at.nor_bytes_per_ns
    )
    by_cpu = (
        work.moved * cycles.moved.value + work.softmax * cycles.softmax.value + work.floats * cycles.floats.value
    ) / at.cpu_ghz
    return layers / _NS, (work.passes * cycles.passes.value / at.npu_ghz + by_cpu) / _NS


def class_span(work: OperatorWork, flash_bytes: float, model: ClassModel, at: Conditions, reasons: int = 0) -> Span:
    """Return the expected ms of a network, and their range.

    Each class has its own error.

    Args:
        work: Work by classes.
        flash_bytes: Bytes of weights.
        model: Costs and errors of the classes.
        at: Clocks.
        reasons: Number of reasons to widen the range.
    """
    layers, others = class_times(work, flash_bytes, model, at)
    low = layers * model.errors.layers.low + others * model.errors.others.low
    high = layers * model.errors.layers.high + others * model.errors.others.high
    middle = layers + others
    return Span(further(middle, low, reasons), middle, further(middle, high, reasons))


def time_on_npu(epochs: Sequence[EpochWork], model: TimeModel, at: Conditions, reasons: int) -> Span | None:
    """Return the time on the NPU of a network that runs on the CPU.

    It is None without kernels of this project that have MACs. The start of one blob of the epoch controller is
    added, which matters for networks of one or two layers.

    Args:
        epochs: Work of the epochs.
        model: Model of times.
        at: Clocks.
        reasons: Number of reasons to widen the range.
    """
    if not any(each.own and each.macs and each.made for each in epochs):
        return None
    flash = sum(each.flash[0] for each in epochs if each.own)
    classes = model.classes
    found = class_span(class_work(epochs, classes.macs_per_cycle.value), flash, classes, at, reasons)
    starts = [part / at.cpu_ghz / _NS for part in vars(model.by_controller).values()]
    return Span(found.low + starts[0], found.value + starts[1], found.high + starts[2])
