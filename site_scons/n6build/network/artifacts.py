"""What stage 1 left in its folder, whichever backend it was: the one source of the memory plan."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from n6build.errors import N6Error
from n6build.files import read_bytes

TensorType = Literal["int8", "uint8", "float32"]
_TYPES: dict[str, TensorType] = {
    "STAI_FORMAT_S8": "int8",
    "STAI_FORMAT_U8": "uint8",
    "STAI_FORMAT_FLOAT": "float32",
    "STAI_FORMAT_FLOAT32": "float32",
}
_POOL_FILE = re.compile(r"atonbuf\.(\w+)\.raw")
_VERSION = re.compile(r"LL_ATON_VERSION_(MAJOR|MINOR|MICRO|DEV)\s*!=\s*(\d+)")


@dataclass(frozen=True)
class PoolRange:
    """A concrete memory pool: bytes [address, address + used_bytes) are in use. address: 0 for a relative pool."""

    name: str
    fname: str
    address: int
    size: int
    used_bytes: int
    rights: str

    @property
    def used_end(self) -> int:
        return self.address + self.used_bytes


@dataclass(frozen=True)
class InitializerImage:
    """A raw file and the pool whose first `bytes` bytes it is."""

    pool: str
    fname: str
    address: int
    file: Path
    bytes: int


@dataclass(frozen=True)
class IoBuffer:
    """An input or output of the network. real = scale * (value - zero_point); 1 and 0 for float32.

    address: None where the application allocates it, or its pool is relative.
    """

    name: str
    address: int | None
    bytes: int
    type: TensorType
    shape: tuple[int, ...]
    scale: float
    zero_point: int


@dataclass(frozen=True)
class EpochInfo:
    """index: as in the epoch table of network.c, from 1. kind: of its operators. mapping: NODE_SW, NODE_HW, NODE_EC..."""

    index: int
    name: str
    kind: str
    macs: int
    mapping: str


@dataclass(frozen=True)
class NetworkArtifacts:
    """name: suffix of the network's symbols. source: network.c. ll_aton: version of the runtime that it asks for, or None.

    tools: name and version of what made it.
    """

    name: str
    source: Path
    pools: tuple[PoolRange, ...]
    initializers: tuple[InitializerImage, ...]
    inputs: tuple[IoBuffer, ...]
    outputs: tuple[IoBuffer, ...]
    epochs: tuple[EpochInfo, ...]
    ll_aton: tuple[int, int, int, int] | None
    tools: tuple[tuple[str, str], ...]


def read_artifacts(folder: Path, name: str) -> NetworkArtifacts:
    """Raises N6-FILE-002 where a file is missing, N6-NET-020 where c_info is not what its schema says, N6-NET-021 where a
    raw file has another size than its pool's initializers."""
    source, info = folder / f"{name}.c", folder / f"{name}_c_info.json"
    text = read_bytes(info)
    try:
        document = json.loads(text)
        artifacts = _artifacts(folder, name, source, document)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise N6Error(
            "N6-NET-020",
            f"is not a description of a compiled network: {type(error).__name__} {error}",
            where=info.name,
            hint="compile the network again; a description that was only validated has no memory pools",
        ) from error
    for image in artifacts.initializers:
        size = len(read_bytes(image.file))
        if size != image.bytes:
            raise N6Error(
                "N6-NET-021",
                f"has {size} bytes, the initializers of pool {image.pool} take {image.bytes}",
                where=image.file.name,
                hint="compile the network again",
            )
    return artifacts


def _artifacts(folder: Path, name: str, source: Path, document: dict[str, Any]) -> NetworkArtifacts:
    graph = document["graphs"][0]
    buffers = {int(buffer["id"]): buffer for buffer in document["buffers"]}
    # A virtual pool is a view of concrete ones, which already count its buffers.
    pools = {int(pool["id"]): pool for pool in document["memory_pools"] if not pool["subpools"]}
    versions = dict(_VERSION.findall(read_bytes(source).decode("utf-8", "replace")))
    ll_aton = tuple(int(versions[part]) for part in ("MAJOR", "MINOR", "MICRO", "DEV") if part in versions)
    return NetworkArtifacts(
        name=name,
        source=source,
        pools=tuple(_pool(pool) for pool in pools.values()),
        initializers=tuple(
            image
            for pool_id, pool in pools.items()
            if (image := _initializers(folder, name, pool, _params_of(pool_id, buffers)))
        ),
        inputs=tuple(_io(buffers[int(number)], pools) for number in graph["inputs"]),
        outputs=tuple(_io(buffers[int(number)], pools) for number in graph["outputs"]),
        epochs=tuple(epoch for node in graph["nodes"] if (epoch := _epoch(node))),
        ll_aton=(ll_aton[0], ll_aton[1], ll_aton[2], ll_aton[3]) if len(ll_aton) == 4 else None,
        tools=tuple((str(tool["name"]), str(tool["version"])) for tool in document["environment"]["tools"]),
    )


def _address(pool: dict[str, Any]) -> int | None:
    text = pool["address"]
    return int(text) if isinstance(text, str) and text.isdigit() else None


def _fname(pool: dict[str, Any]) -> str:
    match = _POOL_FILE.fullmatch(pool["fname"])
    if not match:
        raise ValueError(f"pool {pool['name']} has the file name {pool['fname']!r}")
    return match[1]


def _pool(pool: dict[str, Any]) -> PoolRange:
    return PoolRange(
        name=str(pool["name"]),
        fname=_fname(pool),
        address=_address(pool) or 0,
        size=int(pool["size_bytes"]),
        used_bytes=int(pool["used_size_bytes"]),
        rights=str(pool["rights"]),
    )


def _params_of(pool_id: int, buffers: dict[int, dict[str, Any]]) -> int:
    """Bytes from the pool's start to the end of its last initializer."""
    return max(
        (
            int(buffer["offset_start"]) + int(buffer["size_bytes"])
            for buffer in buffers.values()
            if buffer["is_param"] and int(buffer["mpool_id"]) == pool_id
        ),
        default=0,
    )


def _initializers(folder: Path, name: str, pool: dict[str, Any], size: int) -> InitializerImage | None:
    """A network without weights leaves an empty file; a pool without initializers none."""
    file = folder / f"{name}_atonbuf.{_fname(pool)}.raw"
    if size == 0 and not file.is_file():
        return None
    return InitializerImage(str(pool["name"]), _fname(pool), _address(pool) or 0, file, size)


def _io(buffer: dict[str, Any], pools: dict[int, dict[str, Any]]) -> IoBuffer:
    pool = pools.get(int(buffer["mpool_id"]))
    base = _address(pool) if pool else None
    if buffer["format"] not in _TYPES:
        raise ValueError(f"buffer {buffer['name']} has the format {buffer['format']}")
    quantisation = buffer.get("intq", {"scales": [1.0], "offsets": [0]})
    scale = float(quantisation["scales"][0])
    if not math.isfinite(scale):
        raise ValueError(f"buffer {buffer['name']} has the scale {scale}")
    return IoBuffer(
        name=str(buffer["name"]),
        address=None if base is None else base + int(buffer["offset_start"]),
        bytes=int(buffer["size_bytes"]),
        type=_TYPES[buffer["format"]],
        shape=tuple(int(size) for size in buffer["shape"]),
        scale=scale,
        zero_point=int(quantisation["offsets"][0]),
    )


def _epoch(node: dict[str, Any]) -> EpochInfo | None:
    """Epoch 0 stands for the parameters; nothing runs there."""
    match = re.fullmatch(r"epoch_(\d+)", node["name"])
    if not match or int(match[1]) == 0:
        return None
    kinds = [part["description"].removeprefix("Node kind=") for part in node["subgraph_nodes"]]
    names = [str(part["name"]) for part in node["subgraph_nodes"]]
    return EpochInfo(
        index=int(match[1]),
        name=" ".join(names),
        kind=" ".join(dict.fromkeys(kinds)),
        macs=int(node["macc"]) or sum(int(part["macc"]) for part in node["subgraph_nodes"]),
        mapping=str(node["mapping"]),
    )
