"""Memory pools and input of any c_info of schema 2, for the NPU or a Cortex-M.

Costs of each epoch as ST's compiler estimates them in c_info. They are cycles of computing, and
bytes by memory pool. The compiler's total was up to 98 times wrong on silicon; its inputs are
right: elements, and bytes.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from n6build.base.json_value import JsonValue, read_json

_EPOCH = re.compile(r"epoch_(\d{1,9})", re.ASCII)
# Real networks have a few thousand epochs, each with an entry for each pool.
_MOST_ENTRIES = 1 << 20
_MOST_PORTS, _MOST_AXES = 1 << 14, 16


@dataclass(frozen=True)
class EpochCosts:
    """The costs of an epoch.

    Attributes:
        compute_cycles: Cycles of the NPU's units, without memories.
        total_cycles: Cycles that ST's compiler expects for the epoch.
        reads: Bytes read, by name of the pool.
        writes: Bytes written, by name of the pool.
        elements: Elements of its largest tensor.
        made: Elements of its largest output.
        weights: Bytes of initializers, by name of the pool.
    """

    compute_cycles: int = 0
    total_cycles: int = 0
    reads: dict[str, int] = field(default_factory=dict)
    writes: dict[str, int] = field(default_factory=dict)
    elements: int = 0
    made: int = 0
    weights: dict[str, int] = field(default_factory=dict)


def read_costs(path: Path) -> dict[int, EpochCosts]:
    """Read the costs of each epoch, by ST's number of the epoch.

    Raises:
        N6Error: N6-FILE-002, N6-NET-020.
    """
    document = read_json(path)
    pools = {pool["id"].count(): pool["name"].text() for pool in document["memory_pools"].at_most(_MOST_PORTS)}
    buffers = {buffer["id"].count(): buffer for buffer in document["buffers"].at_most(_MOST_ENTRIES)}
    reads: dict[int, dict[str, int]] = {}
    writes: dict[int, dict[str, int]] = {}
    for entry in _entries(document, "memory_accesses"):
        for key, counted in (("reads", reads), ("writes", writes)):
            if count := entry[key].count():
                counted.setdefault(entry["node_id"].count(), {})[pools.get(entry["mpool_id"].count(), "")] = count
    estimates = {entry["node_id"].count(): entry for entry in _entries(document, "power_estimates")}
    costs = {}
    for node in document["graphs"].first()["nodes"].at_most(_MOST_ENTRIES):
        match = _EPOCH.fullmatch(node["name"].text())
        if match:
            id = node["id"].count()
            estimate = estimates.get(id)
            tensors, weights = _tensors(node, buffers, pools)
            costs[int(match[1])] = EpochCosts(
                compute_cycles=_count(estimate, "compute_cycles"),
                total_cycles=_count(estimate, "max_cycles"),
                reads=reads.get(id, {}),
                writes=writes.get(id, {}),
                elements=max(tensors.values(), default=0),
                made=tensors.get("outputs", 0),
                weights=weights,
            )
    return costs


def _entries(document: JsonValue, key: str) -> list[JsonValue]:
    """Return the entries of a list that only ST's compiler writes."""
    found = document.get(key)
    return list(found.at_most(_MOST_ENTRIES)) if found else []


def _count(estimate: JsonValue | None, key: str) -> int:
    value = estimate.get(key) if estimate else None
    number = value.number() if value else 0.0
    return round(number) if math.isfinite(number) and number > 0 else 0


def _tensors(
    node: JsonValue, buffers: dict[int, JsonValue], pools: dict[int, str]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return elements of the largest input and output, and initializer bytes by pool.

    Initializers do not count as inputs.
    """
    elements, weights = dict[str, int](), dict[str, int]()
    for key in ("inputs", "outputs"):
        for number in dict.fromkeys(number.count() for number in node[key].at_most(_MOST_PORTS)):
            buffer = buffers.get(number)
            if buffer is None:
                continue
            if buffer["is_param"].data is True:
                pool = pools.get(buffer["mpool_id"].count(), "")
                weights[pool] = weights.get(pool, 0) + buffer["size_bytes"].count()
            else:
                shape = [size.count() for size in buffer["shape"].at_most(_MOST_AXES)]
                elements[key] = max(elements.get(key, 0), min(math.prod(shape), buffer["size_bytes"].count()))
    return elements, weights


# Only the major number is checked: all releases so far have schema 2.0.
SCHEMA_MAJOR = "2"
_C_NAME = re.compile(r"\w{1,100}", re.ASCII)
_MAX_POOLS, _MAX_AXES = 256, 16


@dataclass(frozen=True)
class ActivationPool:
    """A writable memory pool in use, with its used bytes."""

    name: str
    used_bytes: int


@dataclass(frozen=True)
class ActivationPools:
    """Pools with activations, and the first input of the network.

    Attributes:
        pools: Pools, smallest first, as ST's deployment numbers the activation buffers.
        input_index: Index of the pool with the first input; 0 if the application allocates it.
        input_shape: Shape as written, without names of axes.
        picture: Height, width and channels of the input, None if it is not a picture.
    """

    pools: tuple[ActivationPool, ...]
    input_index: int
    input_shape: tuple[int, ...]
    picture: tuple[int, int, int] | None


def read_activation_pools(path: Path) -> ActivationPools:
    """Read the writable pools, virtual ones included.

    Raises:
        N6Error: N6-FILE-00x for the file; N6-NET-020 with the path of a key that is missing or of
            another type.
    """
    document = read_json(path)
    require_schema(document)
    used = [pool for pool in document["memory_pools"].at_most(_MAX_POOLS) if _holds_activations(pool)]
    used.sort(key=lambda pool: pool["used_size_bytes"].count())
    inputs = list(document["graphs"].first()["inputs"])
    if not inputs:
        return ActivationPools(tuple(map(_pool, used)), 0, (), None)
    number = inputs[0].count()
    buffer = next((each for each in document["buffers"] if each["id"].count() == number), None)
    if buffer is None:
        raise inputs[0].error(f"there is no buffer {number}")
    holder = buffer["mpool_id"].count()
    index = next((index for index, pool in enumerate(used) if pool["id"].count() == holder), 0)
    shape = tuple(size.count() for size in buffer["shape"].at_most(_MAX_AXES))
    return ActivationPools(tuple(map(_pool, used)), index, shape, _picture(buffer, shape))


def require_schema(document: JsonValue) -> None:
    """Check that the document has schema 2.x.

    Raises:
        N6Error: N6-NET-020 if it has another schema.
    """
    version = document["json_schema_version"]
    if version.text().split(".")[0] != SCHEMA_MAJOR:
        raise version.error(
            f"version {version.text()[:20]} of the schema is unsupported; n6build reads {SCHEMA_MAJOR}.x"
        )


def _holds_activations(pool: JsonValue) -> bool:
    return pool["rights"].text() == "ACC_WRITE" and pool["used_size_bytes"].count() > 0


def _pool(pool: JsonValue) -> ActivationPool:
    name = pool["name"]
    if not _C_NAME.fullmatch(name.text()):
        raise name.error(f"'{name.text()[:40]}' is not a name in C")
    return ActivationPool(name.text(), pool["used_size_bytes"].count())


def _picture(buffer: JsonValue, shape: tuple[int, ...]) -> tuple[int, int, int] | None:
    """Return height, width and channels of an input, None if it is not a picture.

    A network for a Cortex-M names its axes and has no batch; one for the NPU has four axes without
    names, channels last.
    """
    names = [axis.text() for axis in axes.at_most(_MAX_AXES)] if (axes := buffer.get("shape_map")) else []
    if not names:
        return (shape[1], shape[2], shape[3]) if len(shape) == 4 else None
    sizes = dict(zip(names, shape, strict=False))
    if len(names) != len(shape) or not {"H", "W", "CH"} <= set(names) <= {"BATCH", "H", "W", "CH"}:
        return None
    return sizes["H"], sizes["W"], sizes["CH"]
