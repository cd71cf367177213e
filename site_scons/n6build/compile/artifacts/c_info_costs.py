"""Costs of each epoch as ST's compiler estimates them in c_info.

They are cycles of computing, and bytes by memory pool. The compiler's total was up to 98 times
wrong on silicon; its inputs are right: elements, and bytes.
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
