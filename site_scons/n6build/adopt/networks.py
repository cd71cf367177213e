"""Networks of a project: each network.c with its weights."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import content_fault, file_size, is_file, read_part
from n6build.base.walk import Tree, all_nearest, nearest
from n6build.compile.artifacts.network_c import NetworkSource, read_network_c
from n6build.compile.ll_aton import Version
from n6build.describe.compiled_folder import find_network

# A network.c includes the runtime's headers or asks for its version within its first lines.
_HEAD_BYTES = 32 << 10
_MARKS = (b"LL_ATON_VERSION_", b"ll_aton_NN_interface.h")
_NOT_NETWORKS = re.compile(r"ll_\w*|stai_\w+|stm32n6xx\w*|\w+_(?:weights|atonbuf\.\w+)", re.ASCII)
_MOST_NETWORKS = 64
_WEIGHTS = (".raw", ".bin", ".hex", ".c")
MODEL_SUFFIXES = (".tflite", ".onnx", ".h5", ".keras")


@dataclass(frozen=True)
class Weights:
    """A file with weights. fault: reason why it is not usable, empty if it is."""

    file: Path
    fault: str


@dataclass(frozen=True)
class FoundNetwork:
    """A network of ST's compiler.

    Attributes:
        source: C file of the network.
        version: version of the runtime that the C file requires; None if it requires none.
        blobs: whether it needs the header with blobs of the epoch controller.
        weights: files beside it that the build takes.
        elsewhere: files of its pools in other folders of the project, if there are none beside it.
        missing: pools whose weights are in no folder.
        fault: reason why the network cannot be read, empty if it can.
    """

    source: Path
    version: Version | None
    blobs: bool
    weights: tuple[Weights, ...]
    elsewhere: tuple[Weights, ...]
    missing: tuple[str, ...]
    fault: str = ""


def find_networks(tree: Tree, most: int = _MOST_NETWORKS) -> tuple[FoundNetwork, ...]:
    """Return the networks of a project, nearest to its root first.

    Args:
        tree: the project.
        most: number of files that are read as networks; the others are left out.
    """
    sources = [path for path in tree.ending(".c") if not _NOT_NETWORKS.fullmatch(path.stem) and _looks_like_one(path)]
    sources = sources[:most]
    return tuple(found for path in sources if (found := _network(path, tree, tuple(sources))) is not None)


def _looks_like_one(path: Path) -> bool:
    try:
        head = read_part(path, 0, _HEAD_BYTES)
    except N6Error:
        return False
    return any(mark in head for mark in _MARKS)


def _network(path: Path, tree: Tree, sources: tuple[Path, ...]) -> FoundNetwork | None:
    try:
        source = read_network_c(path)
    except N6Error as error:
        # An application that calls the runtime includes its headers, too.
        is_application = error.id == "N6-NETC-001"
        return None if is_application else FoundNetwork(path, None, False, (), (), (), error.what)
    blobs = source.ecblobs_header is not None
    fault = ""
    if blobs and not is_file(path.parent / (source.ecblobs_header or "")):
        fault = f"{source.ecblobs_header} is missing beside it: it has the blobs of the epoch controller"
    pools = _pools(source)
    try:
        beside = _beside(path)
    except N6Error as error:
        return FoundNetwork(path, source.ll_aton, blobs, (), (), (), error.what)
    if beside or not pools:
        return FoundNetwork(path, source.ll_aton, blobs, beside, (), (), fault)
    elsewhere = {pool: _elsewhere(path, pool, tree, sources) for pool in pools}
    return FoundNetwork(
        path,
        source.ll_aton,
        blobs,
        (),
        tuple(_weights(file) for file in elsewhere.values() if file is not None),
        tuple(pool for pool, file in elsewhere.items() if file is None),
        fault,
    )


def _pools(source: NetworkSource) -> tuple[str, ...]:
    """Return the pools that hold weights, by the names in file names."""
    return tuple(sorted({buffer.pool for buffer in source.params if buffer.pool}))


def _beside(path: Path) -> tuple[Weights, ...]:
    return tuple(_weights(each.file) for each in find_network(path.parent, path.stem).weights)


def _weights(path: Path) -> Weights:
    return Weights(path, content_fault(path) or ("" if file_size(path) else "is empty"))


def _elsewhere(path: Path, pool: str, tree: Tree, sources: tuple[Path, ...]) -> Path | None:
    """Return the file of a pool that is nearest to the network.

    A file beside another network, or nearer to one of the same name, belongs to that network and does
    not count.
    """
    wanted = {f"{path.stem}_{kind}.{pool}{suffix}".lower() for kind in ("atonbuf", "data") for suffix in _WEIGHTS}
    named = (file for file in tree.ending(*_WEIGHTS) if file.name.lower() in wanted)
    alike = tuple(each for each in sources if each.name == path.name)
    free = (file for file in named if not is_file(file.with_name(path.name)) and path in all_nearest(alike, file))
    return nearest(tuple(free), path.parent)
