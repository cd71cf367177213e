"""The interface of a backend: one way from a model to a compiled network.

Each backend is a package of `network` with a module `backend`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from n6build.base.environment import Environment
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, read_bytes, sha256
from n6build.base.yaml_schema import Section
from n6build.compile.ll_aton import Version
from n6build.compile.memory_pools import MemoryPool, RoomierProfile
from n6build.engine.step import Step


@dataclass(frozen=True)
class ModelSource:
    """A model as a backend gets it.

    Attributes:
        name: Name of the model.
        file: Model file, None if there is none.
        sha256: Expected hash of the file, None if model.yaml gives none.
        folder: Folder with a network that was compiled elsewhere, None if there is none.
        described_in: Folder of the model.yaml, None without one.
        options: Options of this backend in the model.yaml.
        waived: Ids of waived checks.
        vectors: File with the test inputs.
        is_made: A step makes the file, so that planning must not read it.
    """

    name: str
    file: Path | None
    sha256: str | None
    folder: Path | None
    described_in: Path | None
    options: Section | None
    waived: tuple[str, ...]
    vectors: Path | None = None
    is_made: bool = False


@dataclass(frozen=True)
class Compilation:
    """An order to compile one network.

    Attributes:
        source: The model.
        name: Name of the network's files and symbols.
        folder: Output folder.
        pools: Memory pools in order of preference.
        ll_aton: Version of the runtime.
        environment: Environment of the build.
        notes: Folder for the tools' own reports; None keeps none.
        roomier: Profiles of the board with more RAM, for hints.
        relocatable: Also make <name>_rel.bin, if the backend can.
    """

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
    """A way from a model to a compiled network, and its properties.

    Attributes:
        name: Name of the backend.
        preference: Rank for backend=auto: the build asks the highest first whether it `suits`.
        strict: Its C compiles without a warning.
        exact: Its outputs equal those of the reference interpreter, bit for bit.
        for_npu: It compiles for the NPU, with the limits of such a compiler.
        suits: Return whether to use this backend for the model on this machine.
        check: Raise N6Error if the backend cannot take the model.
        check_options: Raise N6Error for unknown options in the model.yaml, even if another backend
            is used.
        step: Return the step that makes the network; its first output is network.c.
        kernels: Return the C files of n6build's kernels that the network calls.
        takes_pools: Its networks use the pools that the build gives, in which a writable pool is
            RAM of the board; networks of other tools have the pools that their own compiler was
            given.
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
    """Reject every option, for a backend that has none.

    Raises:
        N6Error: N6-YAML-003 always.
    """
    raise N6Error("N6-YAML-003", "this backend has no options", where=section.where(), hint="remove the key")


def require_file(name: str, source: ModelSource) -> Path:
    """Return the model file.

    Args:
        name: Name of the backend.
        source: The model.

    Raises:
        N6Error: N6-NET-024 if there is no model file.
    """
    if source.file is None:
        hint = "pass the model file, or use backend=prebuilt with the compiled network"
        raise N6Error("N6-NET-024", f"backend {name} needs the model file", where=source.name, hint=hint)
    return source.file


def check_sha256(file: Path, described: str | None) -> None:
    """Check the hash of a model file.

    Args:
        file: The model file.
        described: Expected SHA-256 in hex, None if model.yaml has none.

    Raises:
        N6Error: N6-MODEL-006 if the file has another hash.
    """
    if described is None:
        return
    # If the digest fails, reading the file reports the cause.
    found = digest_of(file) or sha256(read_bytes(file))
    if found != described:
        raise N6Error(
            "N6-MODEL-006",
            f"is not the file that model.yaml describes (sha256 {described[:12]}...)",
            where=file.name,
            hint=f"write sha256: {found} if you trained the model again; otherwise restore the file",
        )
