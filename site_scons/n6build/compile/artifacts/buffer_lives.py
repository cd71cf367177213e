"""Lifetimes and addresses of a network's buffers, from c_info."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from n6build.base.files import is_file
from n6build.base.json_value import JsonValue, read_json
from n6build.compile.artifacts.description import NetworkArtifacts

# No network has more buffers; a file with more would only make the report slow.
MOST_BUFFERS = 1 << 14
# ST's runtime keeps the number of an epoch in a signed 16-bit value.
_LARGEST_EPOCH = 0x7FFF
Role = Literal["input", "output", "activation", "scratch"]


@dataclass(frozen=True)
class BufferLife:
    """Bytes [address, address + bytes) in use from epoch `first` to epoch `last`.

    The numbers are those of the network compiler; 0 is before the first epoch.
    """

    name: str
    role: Role
    address: int
    bytes: int
    first: int
    last: int


def buffer_lives(artifacts: NetworkArtifacts) -> tuple[BufferLife, ...]:
    """Return the lifetimes of buffers, by first epoch and address.

    Buffers without an address of their own are left out: those in relative pools, or of the
    application. The result is empty without a c_info.

    Raises:
        N6Error: N6-FILE-00x and N6-NET-020 as `read_artifacts`.
    """
    path = artifacts.source.with_name(f"{artifacts.name}_c_info.json")
    if not is_file(path):
        return ()
    document = read_json(path)
    bases = {pool["id"].count(): _base(pool) for pool in document["memory_pools"]}
    roles = _roles(document["graphs"].first())
    buffers = document["buffers"].at_most(MOST_BUFFERS)
    found = [life for buffer in buffers for life in _life(buffer, bases, roles)]
    return tuple(sorted(found, key=lambda life: (life.first, life.address, life.name)))


def _base(pool: JsonValue) -> int | None:
    own, address = pool.get("user_allocated"), pool.get("address")
    text = "" if address is None or (own is not None and own.data is True) else str(address.data)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 20 else None


def _roles(graph: JsonValue) -> dict[int, Role]:
    roles: dict[int, Role] = {}
    for node in graph["nodes"]:
        for number in node.get("scratchs") or ():
            roles[number.count()] = "scratch"
    roles |= {number.count(): "output" for number in graph["outputs"]}
    roles |= {number.count(): "input" for number in graph["inputs"]}
    return roles


def _life(buffer: JsonValue, bases: dict[int, int | None], roles: dict[int, Role]) -> Iterator[BufferLife]:
    base, epochs = bases.get(buffer["mpool_id"].count()), buffer.get("epochs")
    if buffer["is_param"].data is not False or base is None or epochs is None:
        return
    first, last = epochs["start"].integer(), epochs["end"].integer()
    if 0 <= first <= last <= _LARGEST_EPOCH:
        yield BufferLife(
            name=buffer["name"].text(),
            role=roles.get(buffer["id"].count(), "activation"),
            address=base + buffer["offset_start"].count(),
            bytes=buffer["size_bytes"].count(),
            first=first,
            last=last,
        )
