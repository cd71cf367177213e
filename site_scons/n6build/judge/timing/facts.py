"""Measurements on real chips: a table in YAML, a line for each measurement."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.paths import BOARDS
from n6build.base.yaml_schema import Range, read_document

# The measurements hold for the family: all chips have the same NPU, processor and memories.
MEASUREMENTS = BOARDS / "soc" / "stm32n6-timings.yaml"
_MOST_MHZ = 10_000
_LONGEST_MS = 1e7
_AXES = 3
# A larger factor is more than the difference between compilers for the same layers.
_CONTRADICTS = 1.5

Mhz = Annotated[int, Range(1, _MOST_MHZ)]
Count = Annotated[int, Range(0, 1 << 40)]
Ms = Annotated[float, Range(1e-6, _LONGEST_MS)]
# A fact is stated by its measurer, deduced by this project from other figures, or retold by a third party.
Sure = Literal["stated", "deduced", "retold"]
ArchitectureName = Literal["mobilenet-v1", "fd-mobilenet", "mobilenet-v2", "resnet18-half", "tiny-yolo-v2", "yolo-v8n"]
# A network may have these parts, of which no measured epoch gives the time.
Unknown = Literal["silu", "cpu", "psram", "float"]
OperatorClass = Literal["layers", "passes", "moved", "softmax", "floats"]


@dataclass(frozen=True)
class Source:
    """The source of a measurement.

    Attributes:
        what: Measurer and method.
        where: Repository and path, or page.
    """

    what: str
    where: str


@dataclass(frozen=True)
class Clocks:
    """The clocks of a measurement.

    Attributes:
        cpu: MHz.
        npu: MHz.
        nor: MHz; the NOR moves two bytes a clock.
        sure: How these clocks are known.
    """

    cpu: Mhz
    npu: Mhz
    nor: Mhz
    sure: Sure


@dataclass(frozen=True)
class Architecture:
    """The architecture of a network.

    Attributes:
        name: Name of the function that lists its layers.
        input: Height, width, channels.
        classes: Number of outputs.
        alpha: Width multiplier.
    """

    name: ArchitectureName
    input: tuple[int, int, int]
    classes: Count
    alpha: Annotated[float, Range(0.01, 10.0)] = 1.0


@dataclass(frozen=True)
class OperatorWork:
    """The work of a network by classes of operators, which `classes` explains.

    Attributes:
        family: Family of similar networks, which a fit leaves out together.
        layers: Cycles of layers: their elements, or their MACs / 170 if these are more.
        passes: Elements of operators with an epoch of their own.
        moved: Elements that the CPU helps to move.
        softmax: Elements of a Softmax.
        floats: Elements that become float.
    """

    family: str
    layers: Count
    passes: Count = 0
    moved: Count = 0
    softmax: Count = 0
    floats: Count = 0

    @staticmethod
    def classes() -> tuple[OperatorClass, ...]:
        """Return the names of the classes, in the order of the fields."""
        return get_args(OperatorClass)


@dataclass(frozen=True)
class MeasuredNetwork:
    """A network that was measured.

    Attributes:
        id: Id of the row.
        what: The network and its input.
        ms: Measured time.
        source: Name of the source.
        clocks: Name of the clocks.
        sure: How the time is known.
        compiler: Release of ST Edge AI Core.
        layers: Its layers, None if they could not be listed.
        work: Its work by classes of operators, counted in its published model file; None without one.
        weights_kib: Weights as published; None if they are not.
        internal_kib: Internal RAM as published; None if it is not.
        external_kib: External RAM as published; None if it is not.
        weights: Memory with the weights.
        epoch_controller: Use of the epoch controller, None if no source states it.
        unknown: Parts of which no measured epoch gives the time.
    """

    id: str
    what: str
    ms: Ms
    source: str
    clocks: str
    sure: Sure
    compiler: str = ""
    layers: Architecture | None = None
    work: OperatorWork | None = None
    weights_kib: Count | None = None
    internal_kib: Count | None = None
    external_kib: Count | None = None
    weights: Literal["flash", "on chip", "unknown"] = "flash"
    epoch_controller: bool | None = None
    unknown: tuple[Unknown, ...] = ()

    @property
    def family(self) -> str:
        """Return the family of similar networks, which a fit leaves out together."""
        if self.work is not None:
            return self.work.family
        if self.layers is None:
            return ""
        return {"fd-mobilenet": "mobilenet-v1", "resnet18-half": "dense", "tiny-yolo-v2": "dense"}.get(
            self.layers.name, self.layers.name
        )


@dataclass(frozen=True)
class MeasuredEpoch:
    """One epoch of the NPU.

    Attributes:
        id: Id of the row.
        layer: Its layer.
        macs: Multiply-accumulates.
        elements_in: Elements of the input.
        elements_out: Elements of the output.
        weights: Bytes.
        start: Cycles of the CPU before the NPU works.
        core: Cycles of the CPU while the NPU works.
        end: Cycles of the CPU after the NPU works.
        depthwise: It is a depthwise convolution.
        bytes_known: False if it reads more from the flash than the weights, by an unknown amount.
    """

    id: str
    layer: str
    macs: Count
    elements_in: Count
    elements_out: Count
    weights: Count
    start: Count
    core: Count
    end: Count
    depthwise: bool = False
    bytes_known: bool = True

    @property
    def elements(self) -> int:
        """Return the elements of its widest stream, as those of a layer."""
        return max(self.elements_in, self.elements_out) if self.depthwise else self.elements_out


@dataclass(frozen=True)
class EpochTable:
    """Epochs of one run."""

    what: str
    source: str
    clocks: str
    sure: Sure
    compiler: str
    epoch_controller: bool
    epochs: tuple[MeasuredEpoch, ...]


@dataclass(frozen=True)
class MeasuredOperator:
    """An operator of ST's library on the CPU.

    Attributes:
        kind: Kind of operator.
        elements: Elements of one epoch.
        cycles: Cycles of one epoch.
        source: Name of the source.
        sure: How the figures are known.
    """

    kind: str
    elements: Count
    cycles: Count
    source: str
    sure: Sure


@dataclass(frozen=True)
class MeasuredHybrid:
    """An epoch that NPU and CPU share.

    Attributes:
        what: Its operator, or its place in a range of measurements.
        cycles: Cycles of the CPU.
        source: Name of the source.
        sure: How the figure is known.
    """

    what: str
    cycles: Count
    source: str
    sure: Sure


@dataclass(frozen=True)
class MeasuredMacs:
    """The cycles for a MAC of a layer on a Cortex-M55.

    Attributes:
        layer: Kind of layer.
        cycles_per_mac: Cycles for each MAC.
        source: Name of the source.
        sure: How the figure is known.
    """

    layer: Literal["conv", "pointwise", "depthwise"]
    cycles_per_mac: Annotated[float, Range(0.01, 1000.0)]
    source: str
    sure: Sure


@dataclass(frozen=True)
class MeasuredBlock:
    """A blob of the epoch controller as a whole.

    Attributes:
        what: The blob.
        source: Name of the source.
        clocks: Name of the clocks.
        epochs: Number of epochs in it.
        start: Cycles of the CPU before the NPU works.
        core: Cycles of the CPU while the NPU works.
        end: Cycles of the CPU after the NPU works.
    """

    what: str
    source: str
    clocks: str
    epochs: Count
    start: Count
    core: Count
    end: Count


@dataclass(frozen=True)
class MeasuredEstimate:
    """A network whose time was compared with the estimate of ST's compiler.

    Attributes:
        what: The network.
        ratio: measured / expected.
        source: Name of the source.
    """

    what: str
    ratio: Annotated[float, Range(0.001, 1000.0)]
    source: str


@dataclass(frozen=True)
class Measurements:
    """All measurements.

    Attributes:
        sources: Sources by the names in rows.
        clocks: Clocks by the names in rows.
        networks: Measured networks.
        tables: Tables of measured epochs.
        blocks: Blobs of the epoch controller.
        operators: Operators on the CPU.
        cpu_layers: Layers on the CPU.
        estimates: Estimates of ST's compiler.
        hybrid: Epochs that NPU and CPU share.
    """

    sources: dict[str, Source]
    clocks: dict[str, Clocks]
    networks: tuple[MeasuredNetwork, ...]
    tables: tuple[EpochTable, ...]
    blocks: tuple[MeasuredBlock, ...]
    operators: tuple[MeasuredOperator, ...]
    cpu_layers: tuple[MeasuredMacs, ...]
    estimates: tuple[MeasuredEstimate, ...]
    hybrid: tuple[MeasuredHybrid, ...] = ()


@dataclass(frozen=True)
class Contradiction:
    """Contradicting times of one network at the same clocks and weights' place.

    The times differ so much that at most one of them can be right.

    Attributes:
        what: The network.
        ids: Ids of the rows.
        spread: Largest over smallest time.
    """

    what: str
    ids: tuple[str, ...]
    spread: float


def read_measurements(path: Path = MEASUREMENTS) -> Measurements:
    """Read the measurements.

    Raises:
        N6Error: N6-FILE-00x and N6-YAML-00x; N6-TIME-001 for a row that names a missing source or
            missing clocks, or whose input lacks a size.
    """
    document = read_document(path)
    found = document.load(Measurements)
    for index, network in enumerate(found.networks):
        if network.layers is not None and len(network.layers.input) != _AXES:
            where = document.where("networks", index, "layers", "input")
            raise N6Error("N6-TIME-001", "an input has a height, a width and channels", where=where)
    for group in ("networks", "tables", "blocks", "operators", "hybrid", "cpu_layers", "estimates"):
        for index, row in enumerate(getattr(found, group)):
            for key, known in (("source", found.sources), ("clocks", found.clocks)):
                name = getattr(row, key, None)
                if name is not None and name not in known:
                    raise N6Error(
                        "N6-TIME-001",
                        f"'{name}' does not exist in {'sources' if key == 'source' else 'clocks'}",
                        where=document.where(group, index, key),
                        hint=did_you_mean(name, known),
                    )
    return found


def contradictions(found: Measurements) -> tuple[Contradiction, ...]:
    """Return the contradictions among networks measured more than once, largest first."""
    same: dict[tuple[object, ...], list[MeasuredNetwork]] = defaultdict(list)
    for row in found.networks:
        clocks = found.clocks[row.clocks]
        key = (row.layers or row.what, clocks.cpu, clocks.npu, clocks.nor, row.weights, row.epoch_controller)
        same[key].append(row)
    spreads = [(rows, max(row.ms for row in rows) / min(row.ms for row in rows)) for rows in same.values()]
    contradicting = [
        Contradiction(rows[0].what, tuple(row.id for row in rows), spread)
        for rows, spread in spreads
        if spread > _CONTRADICTS
    ]
    return tuple(sorted(contradicting, key=lambda each: -each.spread))
