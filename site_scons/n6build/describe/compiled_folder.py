"""Folders with the output of ST's tool, of any version, for backend prebuilt.

Folders differ: a network may be called `od`, weights may be raw, binary or Intel hex, c_info may be
missing. The names of the files alone give the build the facts that it needs beforehand; nothing is
parsed until something has changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import content_fault, file_size, files_in, is_file, is_folder, read_bytes, remembered

# This part of a file's name is the memory pool of its initializers, as in od_atonbuf.xSPI2.raw or network_data.xSPI2.hex.
_POOL_IN_NAME = re.compile(r"\.(x?SPI\d|\w*RAM\d?|AXIFLEXMEM|[A-Za-z]\w*)$", re.ASCII)
# If a folder has the same initializers several times, the first of these suffixes is preferred.
_WEIGHTS_SUFFIXES = (".raw", ".bin", ".hex")
_COPIED = (
    "{name}.h",
    "{name}_ecblobs.h",
    "{name}_c_info.json",
    "{name}_generate_report.txt",
    "stai_{name}.h",
    "stai_{name}.c",
)
_NOT_NETWORKS = re.compile(r"stai_\w+|\w+_atonbuf\.\w+|\w+_weights|main|app_\w+", re.ASCII)
# The tool itself names weights by the network and this suffix.
_TOOLS_NAME = re.compile(r"(\w+)_atonbuf\b", re.ASCII)
# These limit the search of folders for a hint.
_DEPTH, _MOST_ENTRIES = 3, 100
# Every network defines this function.
_EPOCH_TABLE = re.compile(rb"\bLL_ATON_EpochBlockItems_\w+\s*\(\s*void\s*\)\s*\{")


@dataclass(frozen=True)
class WeightsFile:
    """A file with the weights of a memory pool.

    Attributes:
        pool: Postfix of the memory pool, empty if the name of the file does not contain it.
        file: The file.
    """

    pool: str
    file: Path


@dataclass(frozen=True)
class PrebuiltNetwork:
    """A network that was compiled elsewhere.

    Attributes:
        name: Name of the network's files.
        source: network.c.
        others: Files that are copied as they are.
        weights: Files with weights, one for each pool.
    """

    name: str
    source: Path
    others: tuple[Path, ...]
    weights: tuple[WeightsFile, ...]

    @property
    def c_info(self) -> Path | None:
        """Return the description of the network, None if the tool wrote none."""
        return next((path for path in self.others if path.name == f"{self.name}_c_info.json"), None)

    @property
    def inputs(self) -> tuple[Path, ...]:
        """Return all its files, network.c first."""
        return (self.source, *self.others, *(weights.file for weights in self.weights))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the names of the files that `import_network` writes, network.c first."""
        names = [self.source.name, *(path.name for path in self.others)]
        return (*names, *(weights_name(self.name, weights.pool) for weights in self.weights))


def weights_name(network: str, pool: str) -> str:
    """Return the name of the file with a pool's initializers in a folder of stage 1.

    Args:
        network: Name of the network.
        pool: Postfix of the pool, empty if it has none.
    """
    return f"{network}_atonbuf.{pool}.raw" if pool else f"{network}_atonbuf.raw"


def find_network(folder: Path, name: str | None = None) -> PrebuiltNetwork:
    """Find a compiled network in a folder.

    Args:
        folder: Folder with the network.
        name: Name of the network, needed if the folder holds several.

    Raises:
        N6Error: N6-PRE-001 (none); N6-PRE-002 (several); N6-MODEL-007 (no C identifier).
    """
    found = _networks(folder)
    if name is not None and name not in found:
        hint = did_you_mean(name, found)
        raise N6Error("N6-PRE-001", f"no network '{name}' ({name}.c)", where=str(folder), hint=hint)
    networks = _recognised(found)
    if name is None:
        name = _only_network(folder, networks)
    if not (name.isascii() and name.isidentifier()):
        what = f"'{name}' is not a valid name for a network: a C identifier"
        raise N6Error("N6-MODEL-007", what, where=str(found[name]), hint="rename the file after its symbols")
    listed = (folder / pattern.format(name=name) for pattern in _COPIED)
    weights = _weights(folder, name, {*networks, name})
    pools = {each.pool for each in weights} - {""}
    return PrebuiltNetwork(
        name=name,
        source=found[name],
        others=tuple(path for path in listed if is_file(path)),
        weights=(*weights, *(each for each in _arrays(folder, name) if each.pool not in pools)),
    )


def holds_network(folder: Path) -> bool:
    """Return whether a folder holds one network or several."""
    return bool(_networks(folder))


def source_of(folder: Path, name: str | None = None) -> Path | None:
    """Return network.c of a network, None if `find_network` finds none or several."""
    found = _networks(folder)
    names = [name] if name in found else [] if name else _recognised(found)
    return found[names[0]] if len(names) == 1 else None


def folders_with_networks(folder: Path, depth: int = _DEPTH) -> list[Path]:
    """Return the folders below one that hold networks with their weights.

    Args:
        folder: Where the search begins.
        depth: Levels below it.
    """
    found: list[Path] = []
    for path in files_in(folder)[:_MOST_ENTRIES] if depth else []:
        if not is_folder(path):
            continue
        networks = [name for name, source in _networks(path).items() if _is_network(source)]
        found += [path] if any(_is_complete(path, name, networks) for name in networks) else []
        found += folders_with_networks(path, depth - 1)
    return found


def _is_complete(folder: Path, name: str, networks: Collection[str]) -> bool:
    """Return whether a network has a file with weights, or several."""
    files = [*(each.file for each in _weights(folder, name, networks)), *files_in(folder, f"{name}_atonbuf.*.c")]
    return any(map(is_whole, files))


def _networks(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in files_in(folder, "*.c") if not _NOT_NETWORKS.fullmatch(path.stem)}


def _recognised(found: dict[str, Path]) -> list[str]:
    """Return the names of the files that are networks.

    Files are read only if there are several; if none is recognised, all names are returned.
    """
    if len(found) < 2:
        return list(found)
    return [name for name, path in found.items() if _is_network(path)] or list(found)


@remembered
def _is_network(path: Path) -> bool:
    return _EPOCH_TABLE.search(read_bytes(path)) is not None


def _only_network(folder: Path, networks: Sequence[str]) -> str:
    if not networks:
        hint = "pass the folder in which ST's tool wrote network.c"
        raise N6Error("N6-PRE-001", "contains no compiled network", where=str(folder), hint=hint)
    if len(networks) > 1:
        shown = next((name for name in networks if _is_complete(folder, name, networks)), networks[0])
        hint = f"select one: model={folder / shown}.c, or set network.name in a model.yaml"
        raise N6Error("N6-PRE-002", f"contains several networks: {', '.join(networks)}", where=str(folder), hint=hint)
    return networks[0]


def _weights(folder: Path, name: str, networks: Collection[str]) -> tuple[WeightsFile, ...]:
    """Return one file for each pool.

    Args:
        folder: Folder of the network.
        name: Name of the network.
        networks: All networks of the folder; a single one also owns files with other names.
    """
    owned = _owned(folder, name, networks)
    # If several files have the same weights, some may be placeholders.
    whole = [path for path in owned if len(owned) == 1 or is_whole(path)]
    by_pool: dict[str, Path] = {}
    for path in (*whole, *owned):
        match = _POOL_IN_NAME.search(path.stem)
        by_pool.setdefault(match[1] if match else "", path)
    if len(by_pool) > 1 and "" in by_pool:
        # The tool wrote the file that names its pool; a file without a pool's name is a copy of it.
        copy = by_pool.pop("")
        by_pool = {"": copy} if whole == [copy] else by_pool
    return tuple(WeightsFile(pool, path) for pool, path in sorted(by_pool.items()))


def _owned(folder: Path, name: str, networks: Collection[str]) -> list[Path]:
    """Return the files with weights of a network, those with its name first."""
    files = [path for suffix in _WEIGHTS_SUFFIXES for path in files_in(folder, f"*{suffix}")]
    owned = [path for path in files if _owner(path, networks) == name]
    if len(networks) > 1:
        return owned
    others = [path for path in files if path not in owned]
    if owned:
        # The others with the tool's name belong to a network that is no longer in the folder, such as
        # od_atonbuf.xSPI2.raw beside network.c.
        others = [path for path in others if not _TOOLS_NAME.match(path.name)]
    return owned + others


def is_whole(path: Path) -> bool:
    """Return whether a file is more than a placeholder: not empty, no Git LFS pointer."""
    return not content_fault(path) and file_size(path) > 0


def _arrays(folder: Path, name: str) -> list[WeightsFile]:
    """Return the weights that are C arrays."""
    files = files_in(folder, f"{name}_atonbuf.*.c")
    return [WeightsFile(path.stem.removeprefix(f"{name}_atonbuf."), path) for path in files]


def _owner(path: Path, networks: Collection[str]) -> str | None:
    """Return the network whose name the file's begins with.

    For example, network_1_atonbuf.xSPI2.raw belongs to network_1, never to network.
    """
    if named := _TOOLS_NAME.match(path.name):
        return named[1] if named[1] in networks else None
    fitting = [name for name in networks if path.name.startswith((f"{name}_", f"{name}-", f"{name}."))]
    return max(fitting, key=len, default=None)
