"""What is checked: an application on a board, as far as it is built."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.hardware.board import Board
from n6build.image.elf import Section, Symbol
from n6build.image.manifest import FlashManifest
from n6build.memory_plan.plan import MemoryPlan
from n6build.models.model import TensorType
from n6build.network.artifacts.description import NetworkArtifacts
from n6build.network.model_facts import ModelFacts
from n6build.network.pools.memory_pools import MemoryPool
from n6build.network.runtimes import RuntimeVersion


@dataclass(frozen=True)
class CheckedModel:
    """What the checks need to know of a model's description. waived: ids of checks, with reasons. *_type: what the application
    expects."""

    name: str
    file: Path | None
    waived: dict[str, str]
    input_type: TensorType | None
    output_type: TensorType | None


@dataclass(frozen=True)
class NetworkSubject:
    """for_npu: made by a compiler for the NPU. pools: those that it was given. facts: about the model file, None where there is
    none."""

    model: CheckedModel
    for_npu: bool
    artifacts: NetworkArtifacts
    pools: tuple[MemoryPool, ...]
    facts: ModelFacts | None


@dataclass(frozen=True)
class InstalledModel:
    """A relocatable model: executable RAM in bytes that it takes in its load mode, and that it gets."""

    model: str
    load_mode: str
    needed: int
    room: int


@dataclass(frozen=True)
class ForeignProgram:
    """A program that somebody else links, by its ELF file. sections: that take memory at run time. symbols: of what they hold."""

    file: str
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True)
class Subject:
    """runtime: the ll_aton that the Appli is linked with. installed: empty where the networks are linked into it. program: in
    the Appli's place; None where that is ours, or its ELF file is not at hand."""

    board: Board
    networks: tuple[NetworkSubject, ...]
    plan: MemoryPlan
    manifest: FlashManifest
    runtime: RuntimeVersion
    installed: tuple[InstalledModel, ...] = ()
    program: ForeignProgram | None = None
