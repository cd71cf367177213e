"""Lifetimes and addresses of a network's buffers, from c_info."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from n6build.base.files import is_file
from n6build.base.json_value import JsonValue, read_json
from n6build.compile.artifacts.description import NetworkArtifacts

ChannelOrder = Literal["first", "last", "groups", "unknown"]

# The names in network.c.
CHANNEL_ORDERS: dict[str, ChannelOrder] = {"CHPos_First": "first", "CHPos_Last": "last", "CHPos_Mixed": "groups"}


def in_groups(shape: tuple[int, ...], batch: int) -> tuple[int, ...]:
    """Return the shape in memory of channels in groups, (1, C / batch, H, W, batch).

    The result is empty if the channels cannot be in such groups.

    Args:
        shape: The shape with its channels last, (1, H, W, C).
        batch: Channels of a group.
    """
    if len(shape) != 4 or batch < 1 or shape[3] % batch:
        return ()
    return (shape[0], shape[3] // batch, shape[1], shape[2], batch)


def shape_in_memory(
    order: ChannelOrder, shape: tuple[int, ...], batch: int, stored: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the shape in memory of a buffer in network.c.

    Args:
        order: Order of the channels.
        shape: The shape with its channels last.
        batch: Channels of a group.
        stored: The shape in memory that the file has. Buffers with groups of different sizes share one
            (Core 2.1 to 3.0), so that it counts only for other orders.
    """
    stored = stored or shape
    return in_groups(shape, batch) or stored if order == "groups" else stored


def numpy_type(name: str) -> str:
    """Return a type as NumPy names it: DataType_INT8 -> int8."""
    kind = name.removeprefix("DataType_").lower()
    return "float32" if kind == "float" else kind


def c_float(value: str) -> float:
    """Return a floating-point constant of C, NaN if it is none."""
    try:
        return float(value.rstrip("fF") if value.lower() not in ("inf", "-inf") else value)
    except ValueError:
        # NAN, INFINITY, or not a number at all: never a scale that a network can have.
        return float("nan")


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
