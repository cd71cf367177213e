"""The subject of the checks: an application on a board, as far as it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from n6build.check.checked_board import CheckedBoard
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.model_facts import ModelFacts
from n6build.compile.runtimes import RuntimeVersion
from n6build.describe.model import TensorType
from n6build.describe.postprocess import Postprocess
from n6build.judge.npu.saturation import Reach
from n6build.place.image.elf_reader import Section, Symbol
from n6build.place.image.foreign import Role, StartedProgram
from n6build.place.image.memory_regions import MemoryRegion
from n6build.place.image.mpu_tables import MpuRegion
from n6build.place.memory_plan.plan import MemoryPlan


@dataclass(frozen=True)
class CheckedModel:
    """The facts of a model's description that the checks use.

    Attributes:
        name: Name of the model.
        waived: Ids of waived checks, with reasons.
        input_type: Type that the application expects, or None.
        output_type: Type that the application expects, or None.
        postprocess: Decoder of its outputs, or None.
        classes: Names of its classes.
    """

    name: str
    waived: dict[str, str]
    input_type: TensorType | None
    output_type: TensorType | None
    postprocess: Postprocess | None = None
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GivenPool:
    """A memory pool as the network compiler got it.

    Attributes:
        fname: Name of the pool in names of files.
        address: First address.
        size: Bytes.
    """

    fname: str
    address: int
    size: int


@dataclass(frozen=True)
class NetworkSubject:
    """A network to check.

    Attributes:
        model: Its model.
        for_npu: A compiler for the NPU made it.
        artifacts: Description of the network.
        pools: Pools that its compiler got.
        facts: Facts of the model file, None without one.
        reach: Channels that can lose values on the NPU; None without blobs that can be read.
    """

    model: CheckedModel
    for_npu: bool
    artifacts: NetworkArtifacts
    pools: tuple[GivenPool, ...]
    facts: ModelFacts | None
    reach: Reach | None = None


def given_pools(pools: Iterable[MemoryPool]) -> tuple[GivenPool, ...]:
    """Return memory pools as the checks see them."""
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
        refused_in_heap: The answer of a loader whose firmware reads the model into the board's
            `file_heap`; empty if it accepts.
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
    """A third-party program.

    Attributes:
        file: File that the user named.
        role: Role of the program.
        start: Its start, None if it has no vector table of its own.
        has_elf: Whether there is an ELF file; without one, the fields below are empty.
        sections: Sections that take memory at run time.
        symbols: Symbols in these sections.
        labels: Symbols of its linker script.
        regions: Regions of MEMORY in its linker script.
        functions: Functions that matter to the checks and that it has, inlined ones too.
        mpu: Regions in its tables for the MPU.
        place: Return file:line of a symbol, else the object file that the linker map names, else an
            empty string.
    """

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
    """An application on a board.

    Attributes:
        board: The board.
        networks: The networks of the application.
        plan: Memory plan.
        runtime: The ll_aton that the Appli is linked with.
        installed: Installed models; empty if the networks are linked into the Appli.
        programs: Third-party programs.
        appli_bytes: Size of n6build's Appli as it is copied; 0 if there is none, or no third-party
            program.
    """

    board: CheckedBoard
    networks: tuple[NetworkSubject, ...]
    plan: MemoryPlan
    runtime: RuntimeVersion
    installed: tuple[InstalledModel, ...] = ()
    programs: tuple[ForeignProgram, ...] = ()
    appli_bytes: int = 0
