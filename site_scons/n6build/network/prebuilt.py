"""Backend prebuilt: a folder with the output of ST's tool, of any version, brought to the names that the other backends leave.

Folders drift: a network may be called `od`, weights be raw, binary or Intel hex, c_info be missing. What the build has to know
beforehand follows from the names of the files alone; nothing is parsed until something has changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from n6build.errors import N6Error, did_you_mean
from n6build.files import files_in, is_file, read_at_most, read_bytes, write_atomically

# What names the memory pool in the name of a file with initializers, as in od_atonbuf.xSPI2.raw or network_data.xSPI2.hex.
_POOL_IN_NAME = re.compile(r"\.(x?SPI\d|\w*RAM\d?|AXIFLEXMEM|[A-Za-z]\w*)$", re.ASCII)
# In order of preference where a folder has the same initializers several times.
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
MAX_WEIGHTS_BYTES = 256 << 20


@dataclass(frozen=True)
class WeightsFile:
    """pool: postfix of the memory pool, empty where the name of the file does not tell."""

    pool: str
    file: Path


@dataclass(frozen=True)
class PrebuiltNetwork:
    """name: of the network's files. others: copied as they are. weight_sources: initializers as C arrays."""

    name: str
    source: Path
    others: tuple[Path, ...]
    weights: tuple[WeightsFile, ...]
    weight_sources: tuple[Path, ...]

    @property
    def inputs(self) -> tuple[Path, ...]:
        return (self.source, *self.others, *(weights.file for weights in self.weights), *self.weight_sources)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of what `import_network` writes, network.c first."""
        names = [self.source.name, *(path.name for path in self.others)]
        names += [weights_name(self.name, weights.pool) for weights in self.weights]
        return (*names, *(path.name for path in self.weight_sources))


def weights_name(network: str, pool: str) -> str:
    """The one name of a pool's initializers in a folder of stage 1."""
    return f"{network}_atonbuf.{pool}.raw" if pool else f"{network}_atonbuf.raw"


def find_network(folder: Path, name: str | None = None) -> PrebuiltNetwork:
    """name: where the folder holds several networks. Raises N6-PRE-001 (none), N6-PRE-002 (several)."""
    found = {path.stem: path for path in files_in(folder, "*.c") if not _NOT_NETWORKS.fullmatch(path.stem)}
    if name is not None and name not in found:
        hint = did_you_mean(name, found)
        raise N6Error("N6-PRE-001", f"no network '{name}' ({name}.c)", where=str(folder), hint=hint)
    if name is None:
        name = _only_network(folder, found)
    listed = (folder / pattern.format(name=name) for pattern in _COPIED)
    return PrebuiltNetwork(
        name=name,
        source=found[name],
        others=tuple(path for path in listed if is_file(path)),
        weights=_weights(folder, name, alone=len(found) == 1),
        weight_sources=tuple(files_in(folder, f"{name}_atonbuf.*.c")),
    )


def _only_network(folder: Path, found: dict[str, Path]) -> str:
    if "network" in found:
        return "network"
    described = [stem for stem in found if is_file(folder / f"{stem}_c_info.json")]
    candidates = described or list(found)
    if not candidates:
        hint = "give the folder that ST's tool wrote network.c to"
        raise N6Error("N6-PRE-001", "holds no compiled network", where=str(folder), hint=hint)
    if len(candidates) > 1:
        hint = "say which with network.name in model.yaml"
        raise N6Error("N6-PRE-002", f"holds several networks: {', '.join(candidates)}", where=str(folder), hint=hint)
    return candidates[0]


def _weights(folder: Path, name: str, *, alone: bool) -> tuple[WeightsFile, ...]:
    """One file for each pool. Where the folder holds a single network, any file with a fitting suffix is its own."""
    by_pool: dict[str, Path] = {}
    for suffix in _WEIGHTS_SUFFIXES:
        for path in files_in(folder, f"*{suffix}"):
            if path.name.startswith((f"{name}_", f"{name}-", f"{name}.")) or alone:
                match = _POOL_IN_NAME.search(path.stem)
                by_pool.setdefault(match[1] if match else "", path)
    if len(by_pool) > 1:
        # A file that names its pool is what the tool wrote; one that does not is a copy of it.
        by_pool.pop("", None)
    return tuple(WeightsFile(pool, path) for pool, path in sorted(by_pool.items()))


def import_network(network: PrebuiltNetwork, out: Path) -> None:
    """Writes `network.outputs` to the folder `out`. Raises N6-PRE-003 for a hex file that is none."""
    for path in (network.source, *network.others, *network.weight_sources):
        write_atomically(out / path.name, read_bytes(path))
    for weights in network.weights:
        write_atomically(out / weights_name(network.name, weights.pool), _initializers(weights.file))


def _initializers(path: Path) -> bytes:
    if path.suffix != ".hex":
        return read_at_most(path, MAX_WEIGHTS_BYTES)
    # A byte takes a little more than two characters.
    read_at_most(path, 3 * MAX_WEIGHTS_BYTES)
    import intelhex  # noqa: PLC0415 - most networks come without a hex file.

    image = intelhex.IntelHex()
    try:
        image.loadhex(str(path))
    except (OSError, ValueError, intelhex.IntelHexError) as error:
        raise N6Error("N6-PRE-003", f"is no Intel hex file: {error}", where=path.name) from error
    spans = image.segments()
    if not spans:
        raise N6Error("N6-PRE-003", "is an empty Intel hex file", where=path.name)
    start, end = spans[0][0], spans[-1][1]
    if end - start > MAX_WEIGHTS_BYTES:
        raise N6Error(
            "N6-PRE-003",
            f"spans {end - start} bytes, from 0x{start:08X} to 0x{end:08X}: more than one memory pool",
            where=path.name,
            hint="give the raw file of each pool instead",
        )
    data: bytes = image.tobinstr(start=start, end=end - 1)
    return data
