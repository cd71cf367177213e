"""What is checked: an application on a board, as far as it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from n6build.checks.checked_board import CheckedBoard
from n6build.image.elf import Section, Symbol
from n6build.image.foreign import Role, StartedProgram
from n6build.image.memory_regions import MemoryRegion
from n6build.image.mpu_tables import MpuRegion
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
class GivenPool:
    """A memory pool as the network compiler was given it. fname: in names of files. size: bytes."""

    fname: str
    address: int
    size: int


@dataclass(frozen=True)
class NetworkSubject:
    """for_npu: made by a compiler for the NPU. pools: those that it was given. facts: about the model file, None where there is
    none."""

    model: CheckedModel
    for_npu: bool
    artifacts: NetworkArtifacts
    pools: tuple[GivenPool, ...]
    facts: ModelFacts | None


def given_pools(pools: Iterable[MemoryPool]) -> tuple[GivenPool, ...]:
    """What the checks look at of them."""
    return tuple(GivenPool(pool.fname, pool.address, pool.size) for pool in pools)


@dataclass(frozen=True)
class InstalledModel:
    """A relocatable model as the board installs it.

    Attributes:
        model: Its name.
        load_mode: How its code is installed.
        needed: Bytes of executable RAM that it takes in its load mode.
        room: Bytes of executable RAM that it gets.
        external: Bytes of external RAM that it asks for.
        external_room: Bytes of external RAM that it gets.
        refused_in_heap: The answer of a loader whose firmware reads the model into the board's `file_heap`; empty if it accepts.
    """

    model: str
    load_mode: str
    needed: int
    room: int
    external: int = 0
    external_room: int = 0
    refused_in_heap: str = ""


@dataclass(frozen=True)
class ForeignProgram:
    """A program that somebody else links. file: that was given. start: None where it has no vector table of its own. has_elf:
    whether there is an ELF file, without which nothing below is known. sections: that take memory at run time. symbols: of what
    they hold. labels: symbols of its linker script. regions: of MEMORY there. functions: which of those that matter here it has,
    inlined ones too. mpu: regions in its tables for the MPU. place: file:line of a symbol, else the object file that the linker
    map names, else empty."""

    file: str
    role: Role = "appli"
    start: StartedProgram | None = None
    has_elf: bool = True
    sections: tuple[Section, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    regions: tuple[MemoryRegion, ...] = ()
    functions: frozenset[str] = frozenset()
    mpu: tuple[MpuRegion, ...] = ()
    place: Callable[[Symbol], str] = field(default=lambda _: "")


@dataclass(frozen=True)
class Subject:
    """runtime: the ll_aton that the Appli is linked with. installed: empty where the networks are linked into it.
    programs: those that are not ours. appli_bytes: of this project's Appli as it is copied, 0 where there is none, or no program
    that is not ours."""

    board: CheckedBoard
    networks: tuple[NetworkSubject, ...]
    plan: MemoryPlan
    runtime: RuntimeVersion
    installed: tuple[InstalledModel, ...] = ()
    programs: tuple[ForeignProgram, ...] = ()
    appli_bytes: int = 0
