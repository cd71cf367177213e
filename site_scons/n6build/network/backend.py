"""What a backend is: one way from a model to a compiled network, in a package of `network` with a module `backend`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from n6build.base.environment import Environment
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, read_bytes, sha256
from n6build.base.yaml_schema import Section
from n6build.network.ll_aton import Version
from n6build.network.pools.memory_pools import MemoryPool, RoomierProfile
from n6build.plan.step import Step


@dataclass(frozen=True)
class ModelSource:
    """What is known of a model. file: of the model. folder: with a network that was compiled elsewhere. described_in: folder of
    the model.yaml. options: of this backend, in the model.yaml. waived: ids of checks. vectors: file of the test inputs."""

    name: str
    file: Path | None
    sha256: str | None
    folder: Path | None
    described_in: Path | None
    options: Section | None
    waived: tuple[str, ...]
    vectors: Path | None = None


@dataclass(frozen=True)
class Compilation:
    """A network to be made. name: of its files and symbols. folder: for them. pools: in order of preference. ll_aton: version
    of the runtime. notes: folder that keeps what tools report about themselves; None: nothing is kept. roomier: profiles of the
    board with more RAM, for hints. relocatable: also make <name>_rel.bin, if the backend can."""

    source: ModelSource
    name: str
    folder: str
    pools: tuple[MemoryPool, ...]
    ll_aton: Version
    environment: Environment
    notes: Path | None
    roomier: tuple[RoomierProfile, ...] = ()
    relocatable: bool = False


@dataclass(frozen=True)
class Backend:
    """preference: the highest is asked first whether it `suits`, where the choice is left to the build.

    strict: its C compiles without a warning. exact: its outputs are those of the reference interpreter, bit for bit.
    for_npu: it is a compiler for the NPU, with the limits of one. takes_pools: its networks have the pools that the build gives
    it, where a writable one is RAM of the board; those of another tool have whatever pools it was given.

    suits: whether to take this backend for the model on this machine. check: raises N6Error where it cannot take the model.
    check_options: raises N6Error for options in the model.yaml that it does not know, also where another backend is taken.
    step: the one that makes the network; its first output is network.c. kernels: C files of this project's kernels that the
    network calls.
    """

    name: str
    preference: int
    strict: bool
    exact: bool
    for_npu: bool
    suits: Callable[[ModelSource, Environment], bool]
    check: Callable[[ModelSource], None]
    check_options: Callable[[Section], None]
    step: Callable[[Compilation], Step]
    kernels: Callable[[Compilation], tuple[Path, ...]]
    takes_pools: bool = True


def has_no_options(section: Section) -> None:
    """For a backend without any. Raises N6-YAML-003 always."""
    raise N6Error("N6-YAML-003", "this backend has no options", where=section.where(), hint="omit the key")


def require_file(name: str, source: ModelSource) -> Path:
    """The model file. name: of the backend. Raises N6-NET-024 where there is no model file."""
    if source.file is None:
        hint = "backend=prebuilt takes the compiled network"
        raise N6Error("N6-NET-024", f"backend {name} needs the model file", where=source.name, hint=hint)
    return source.file


def check_sha256(file: Path, described: str | None) -> None:
    """described: the hash in hex, None where model.yaml has none. Raises N6-MODEL-006 where the file has another one."""
    if described is None:
        return
    # Reading it says why it cannot be read.
    found = digest_of(file) or sha256(read_bytes(file))
    if found != described:
        raise N6Error(
            "N6-MODEL-006",
            f"is not the file that model.yaml describes (sha256 {described[:12]}...)",
            where=file.name,
            hint=f"if it was trained again, write sha256: {found}",
        )
