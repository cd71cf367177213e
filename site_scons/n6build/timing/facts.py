"""What has been measured on real chips: a table in YAML, a line for each measurement."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.paths import BOARDS
from n6build.base.yaml_schema import Range, read_document

# Of the family: all chips have the same NPU, processor and memories.
MEASUREMENTS = BOARDS / "soc" / "stm32n6-timings.yaml"
_MOST_MHZ = 10_000
_LONGEST_MS = 1e7
_AXES = 3
# Beyond what different compilers make of the same layers.
_CONTRADICTS = 1.5

Mhz = Annotated[int, Range(1, _MOST_MHZ)]
Count = Annotated[int, Range(0, 1 << 40)]
Ms = Annotated[float, Range(1e-6, _LONGEST_MS)]
# stated: by who measured; deduced: by this project, from other figures; retold: by somebody else than who measured.
Sure = Literal["stated", "deduced", "retold"]
ArchitectureName = Literal["mobilenet-v1", "fd-mobilenet", "mobilenet-v2", "resnet18-half", "tiny-yolo-v2", "yolo-v8n"]
# Parts of what a network may have that no measured epoch tells the time of.
Unknown = Literal["silu", "cpu", "psram", "float"]


@dataclass(frozen=True)
class Source:
    """what: who measured, and how. where: repository and path, or page."""

    what: str
    where: str


@dataclass(frozen=True)
class Clocks:
    """cpu, npu, nor: MHz; the NOR moves two bytes a clock. sure: how these clocks are known."""

    cpu: Mhz
    npu: Mhz
    nor: Mhz
    sure: Sure


@dataclass(frozen=True)
class Architecture:
    """name: of the function that lists its layers. input: height, width, channels. alpha: width. classes: outputs."""

    name: ArchitectureName
    input: tuple[int, int, int]
    classes: Count
    alpha: Annotated[float, Range(0.01, 10.0)] = 1.0


@dataclass(frozen=True)
class MeasuredNetwork:
    """what: the network and its input. clocks: their name. compiler: release of ST Edge AI Core. weights_kib, internal_kib,
    external_kib: as published; None where they are not. epoch_controller: None where nobody says it. layers: None where they
    could not be listed. unknown: what in it no measured epoch tells the time of."""

    id: str
    what: str
    ms: Ms
    source: str
    clocks: str
    sure: Sure
    compiler: str = ""
    layers: Architecture | None = None
    weights_kib: Count | None = None
    internal_kib: Count | None = None
    external_kib: Count | None = None
    weights: Literal["flash", "on chip", "unknown"] = "flash"
    epoch_controller: bool | None = None
    unknown: tuple[Unknown, ...] = ()

    @property
    def family(self) -> str:
        """Networks that resemble each other: what is left out together."""
        if self.layers is None:
            return ""
        return {"fd-mobilenet": "mobilenet-v1", "resnet18-half": "dense", "tiny-yolo-v2": "dense"}.get(
            self.layers.name, self.layers.name
        )


@dataclass(frozen=True)
class MeasuredEpoch:
    """One epoch of the NPU. elements: of its widest stream, as its layer has it. weights: bytes. start, core, end: cycles of the
    CPU before, while and after the NPU works. bytes_known: False where more is read of the flash than the weights, and nobody
    knows how much."""

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
        """As those of a layer."""
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
    """An operator of ST's library on the CPU. elements, cycles: of one epoch."""

    kind: str
    elements: Count
    cycles: Count
    source: str
    sure: Sure


@dataclass(frozen=True)
class MeasuredMacs:
    """Of a layer on a Cortex-M55: MACs and cycles for each of them. layer: what kind."""

    layer: Literal["conv", "pointwise", "depthwise"]
    cycles_per_mac: Annotated[float, Range(0.01, 1000.0)]
    source: str
    sure: Sure


@dataclass(frozen=True)
class MeasuredBlock:
    """A blob of the epoch controller as a whole. epochs: in it. start, core, end: cycles of the CPU."""

    what: str
    source: str
    clocks: str
    epochs: Count
    start: Count
    core: Count
    end: Count


@dataclass(frozen=True)
class MeasuredEstimate:
    """A network of which somebody compared what ST's compiler expects. ratio: measured / expected."""

    what: str
    ratio: Annotated[float, Range(0.001, 1000.0)]
    source: str


@dataclass(frozen=True)
class Measurements:
    """sources, clocks: by the names that rows call them. blocks: of the epoch controller. estimates: of ST's compiler."""

    sources: dict[str, Source]
    clocks: dict[str, Clocks]
    networks: tuple[MeasuredNetwork, ...]
    tables: tuple[EpochTable, ...]
    blocks: tuple[MeasuredBlock, ...]
    operators: tuple[MeasuredOperator, ...]
    cpu_layers: tuple[MeasuredMacs, ...]
    estimates: tuple[MeasuredEstimate, ...]


@dataclass(frozen=True)
class Contradiction:
    """The same network at the same clocks, with its weights in the same place: times so different that at most one of them can be
    right. ids: of the rows. spread: largest over smallest."""

    what: str
    ids: tuple[str, ...]
    spread: float


def read_measurements(path: Path = MEASUREMENTS) -> Measurements:
    """Raises N6-FILE-00x and N6-YAML-00x, N6-TIME-001 for a row that names a source or clocks that are not there."""
    document = read_document(path)
    found = document.load(Measurements)
    for index, network in enumerate(found.networks):
        if network.layers is not None and len(network.layers.input) != _AXES:
            where = document.where("networks", index, "layers", "input")
            raise N6Error("N6-TIME-001", "an input has a height, a width and channels", where=where)
    for group in ("networks", "tables", "blocks", "operators", "cpu_layers", "estimates"):
        for index, row in enumerate(getattr(found, group)):
            for key, known in (("source", found.sources), ("clocks", found.clocks)):
                name = getattr(row, key, None)
                if name is not None and name not in known:
                    raise N6Error(
                        "N6-TIME-001",
                        f"there is no '{name}' in {'sources' if key == 'source' else 'clocks'}",
                        where=document.where(group, index, key),
                        hint=did_you_mean(name, known),
                    )
    return found


def contradictions(found: Measurements) -> tuple[Contradiction, ...]:
    """Among networks that were measured more than once; the largest first."""
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
