"""network_c_info.json of any backend, schema versions 2.x: pools, buffers, epochs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.json_value import JsonValue, read_json
from n6build.compile.artifacts.c_info_pools import require_schema
from n6build.compile.artifacts.description import (
    OWN_TOOLS,
    EpochInfo,
    IoBuffer,
    PoolRange,
    Quantised,
    TensorType,
)

TYPES: dict[str, TensorType] = {
    "STAI_FORMAT_S8": "int8",
    "STAI_FORMAT_U8": "uint8",
    "STAI_FORMAT_S16": "int16",
    "STAI_FORMAT_U16": "uint16",
    "STAI_FORMAT_S32": "int32",
    "STAI_FORMAT_S64": "int64",
    "STAI_FORMAT_BOOL": "bool",
    "STAI_FORMAT_FLOAT": "float32",
    "STAI_FORMAT_FLOAT32": "float32",
}
# The group is the postfix of a pool's file; a pool of the C array format has another ending.
_POOL_FILE = re.compile(r"[^.]*\.([A-Za-z_]\w*)\.\w+", re.ASCII)
_EPOCH = re.compile(r"epoch_(\d{1,9})", re.ASCII)
# Real networks have a few ports, tensors a few axes, and one scale for each of some thousand channels.
_MAX_PORTS, MAX_AXES, _MAX_CHANNELS, _MAX_PARTS = 256, 16, 1 << 16, 1 << 14


@dataclass(frozen=True)
class CInfo:
    """The content of a c_info file; `tools` are names and versions of its makers."""

    pools: tuple[PoolRange, ...]
    inputs: tuple[IoBuffer, ...]
    outputs: tuple[IoBuffer, ...]
    quantised: tuple[Quantised, ...]
    epochs: tuple[EpochInfo, ...]
    tools: tuple[tuple[str, str], ...]


def read_c_info(path: Path, postfixes: Mapping[str, str] | None = None) -> CInfo:
    """Read a c_info file.

    Args:
        path: The file.
        postfixes: Name of a pool -> postfix of its file, from network.c, because Core 2.0 omits
            postfixes here.

    Raises:
        N6Error: N6-FILE-002; N6-NET-020 with the path of the key that is missing or violates the
            schema.
    """
    document = read_json(path)
    _require_network(document)
    require_schema(document)
    graph = document["graphs"].first()
    _require_epochs(graph["nodes"])
    buffers = {buffer["id"].count(): buffer for buffer in document["buffers"]}
    pools = {pool["id"].count(): pool for pool in document["memory_pools"]}
    weights = _weights_bytes(buffers.values())
    inputs = [_buffer(number, buffers) for number in graph["inputs"].at_most(_MAX_PORTS)]
    outputs = [_buffer(number, buffers) for number in graph["outputs"].at_most(_MAX_PORTS)]
    io = {buffer["id"].count() for buffer in (*inputs, *outputs)}
    names = {key: _original_names(document, graph, key) for key in ("original_inputs", "original_outputs")}
    return CInfo(
        pools=tuple(
            _pool(pool, weights.get(key, 0), postfixes or {}) for key, pool in pools.items() if _is_concrete(pool)
        ),
        inputs=_ports(inputs, pools, names["original_inputs"]),
        outputs=_ports(outputs, pools, names["original_outputs"]),
        quantised=tuple(
            found for key, buffer in buffers.items() if (found := _quantised(buffer, is_io=key in io)) is not None
        ),
        epochs=tuple(epoch for node in graph["nodes"] if (epoch := _epoch(node, buffers)) is not None),
        tools=tuple(
            (tool["name"].text(), tool["version"].text())
            for tool in document["environment"]["tools"].at_most(_MAX_PORTS)
        ),
    )


def _require_network(document: JsonValue) -> None:
    """Raise N6-NET-020 for a file of `stedgeai validate`, which describes no network."""
    if document.get("validation") and not document.get("graphs"):
        raise N6Error(
            "N6-NET-020",
            "is from stedgeai validate: it has results of a run, but no epochs and no memory pools",
            where=document.file,
            hint="use the file of the same name that stedgeai generate writes",
        )


def _require_epochs(nodes: JsonValue) -> None:
    """Raise N6-NET-020 for a network without NPU: its nodes are operators."""
    listed = list(nodes)
    if listed and not any(_EPOCH.fullmatch(node["name"].text()) for node in listed):
        raise N6Error(
            "N6-NET-020",
            "describes a network for a Cortex-M, not for the NPU: it has operators instead of epochs",
            where=f"{nodes.file}: {nodes.path}",
            hint="compile the network for the NPU (stedgeai generate --target stm32n6 --st-neural-art)",
        )


def _buffer(number: JsonValue, buffers: dict[int, JsonValue]) -> JsonValue:
    if number.count() not in buffers:
        raise number.error(f"buffer {number.count()} does not exist")
    return buffers[number.count()]


def _address(pool: JsonValue) -> int | None:
    """Return the address, None for a relative pool: it is absent or a symbol."""
    found = pool.get("address")
    text = found.data if found else None
    return pool["address"].count() if isinstance(text, int) or (isinstance(text, str) and text.isdigit()) else None


def _is_own(pool: JsonValue) -> bool:
    """Return whether a pool stands for a buffer that the application allocates."""
    own = pool.get("user_allocated")
    return own is not None and own.data is True


def _is_concrete(pool: JsonValue) -> bool:
    """Return whether a pool is concrete.

    A virtual pool is a view of concrete ones, which already count its buffers.
    """
    return not list(pool["subpools"].at_most(_MAX_PORTS)) and not _is_own(pool)


def _postfix(pool: JsonValue, postfixes: Mapping[str, str]) -> str:
    name = pool["name"].text()
    if isinstance(pool.data, dict) and "fname" not in pool.data and name in postfixes:
        return postfixes[name]
    fname = pool["fname"]
    match = _POOL_FILE.fullmatch(fname.text())
    if not match:
        raise fname.error(f"'{fname.text()[:40]}' is not the name of a pool's file")
    return match[1]


def _pool(pool: JsonValue, weights_bytes: int, postfixes: Mapping[str, str]) -> PoolRange:
    address = _address(pool)
    return PoolRange(
        name=pool["name"].text(),
        fname=_postfix(pool, postfixes),
        address=address or 0,
        # Pools that the compiler makes for buffers of the application have no size.
        size=max(pool["size_bytes"].integer(), 0),
        used_bytes=pool["used_size_bytes"].count(),
        weights_bytes=weights_bytes,
        rights=pool["rights"].text(),
        relative=address is None,
    )


def _weights_bytes(buffers: Iterable[JsonValue]) -> dict[int, int]:
    """Return bytes from a pool's start to the end of its last initializer, by pool."""
    ends: dict[int, int] = {}
    for buffer in buffers:
        if buffer["is_param"].data is True:
            key = buffer["mpool_id"].count()
            ends[key] = max(ends.get(key, 0), buffer["offset_start"].count() + buffer["size_bytes"].count())
    return ends


def _original_names(document: JsonValue, graph: JsonValue, key: str) -> list[str]:
    """Return the names of the model's ports, in the order of the network's.

    Only files of n6build's backends are read, since other compilers do not document the order.
    """
    tools = [tool["name"].text() for tool in document["environment"]["tools"].at_most(_MAX_PORTS)]
    ports = graph.get(key)
    return [port["name"].text() for port in ports.at_most(_MAX_PORTS)] if ports and set(OWN_TOOLS) & set(tools) else []


def _ports(buffers: list[JsonValue], pools: dict[int, JsonValue], names: list[str]) -> tuple[IoBuffer, ...]:
    if len(names) != len(buffers):
        names = [""] * len(buffers)
    return tuple(_io(buffer, pools, name) for buffer, name in zip(buffers, names, strict=True))


def _io(buffer: JsonValue, pools: dict[int, JsonValue], original: str) -> IoBuffer:
    pool = pools.get(buffer["mpool_id"].count())
    base = _address(pool) if pool and not _is_own(pool) else None
    kind = buffer["format"]
    if kind.text() not in TYPES:
        raise kind.error(f"'{kind.text()[:40]}' is not a known type of an input or output")
    scale, zero_point = 1.0, 0
    if quantisation := buffer.get("intq"):
        scale = quantisation["scales"].first().number()
        zero_point = quantisation["offsets"].first().integer()
    return IoBuffer(
        name=buffer["name"].text(),
        address=None if base is None else base + buffer["offset_start"].count(),
        bytes=buffer["size_bytes"].count(),
        type=TYPES[kind.text()],
        shape=tuple(size.count() for size in buffer["shape"].at_most(MAX_AXES)),
        scale=scale,
        zero_point=zero_point,
        own=pool is not None and _is_own(pool),
        original=original,
    )


def _quantised(buffer: JsonValue, *, is_io: bool) -> Quantised | None:
    quantisation = buffer.get("intq")
    if quantisation is None:
        return None
    scales = [scale.number() for scale in quantisation["scales"].at_most(_MAX_CHANNELS)]
    zero_points = [zero.integer() for zero in quantisation["offsets"].at_most(_MAX_CHANNELS)]
    if not scales or not zero_points:
        return None
    # min() and max() may hide NaN, which must be reported.
    strange = next(filter(math.isnan, scales), None)
    low, high = (strange, strange) if strange is not None else (min(scales), max(scales))
    kind = TYPES.get(buffer["format"].text(), buffer["format"].text())
    return Quantised(buffer["name"].text(), kind, (low, high), (min(zero_points), max(zero_points)), is_io)


def _epoch(node: JsonValue, buffers: dict[int, JsonValue]) -> EpochInfo | None:
    """Return an epoch, None if nothing runs.

    Epoch 0 represents the parameters, the last one is the end of the network.
    """
    match = _EPOCH.fullmatch(node["name"].text())
    mapping = node["mapping"].text()
    if not match or int(match[1]) == 0 or mapping == "NODE_NO_X":
        return None
    parts = list(node["subgraph_nodes"].at_most(_MAX_PARTS))
    kinds = dict.fromkeys(map(_kind, parts))
    if list(kinds) == ["Return"]:
        return None
    return EpochInfo(
        index=int(match[1]),
        name=" ".join(part["name"].text() for part in parts),
        kind=" ".join(kinds),
        macs=node["macc"].count() or sum(part["macc"].count() for part in parts),
        bytes=_bytes_of(node, buffers),
        mapping=mapping,
    )


def _kind(part: JsonValue) -> str:
    """Return the kind of an operator: a separate key from Core 3.0 on."""
    kind = part.get("type")
    return kind.text() if kind else part["description"].text().removeprefix("Node kind=")


def _bytes_of(node: JsonValue, buffers: dict[int, JsonValue]) -> int:
    """Return the bytes of a node's inputs and outputs, each buffer once."""
    touched = {
        number.count()
        for key in ("inputs", "outputs")
        if (numbers := node.get(key))
        for number in numbers.at_most(_MAX_PARTS)
    }
    return sum(buffers[number]["size_bytes"].count() for number in touched if number in buffers)
