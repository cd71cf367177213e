"""The buffers that each epoch of a network makes.

They come from network.c if it lists them, else from c_info.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import is_file
from n6build.base.json_value import JsonValue, read_json
from n6build.compile.artifacts.buffer_lives import ChannelOrder, in_groups
from n6build.compile.artifacts.c_info_reader import MAX_AXES, TYPES
from n6build.compile.artifacts.network_c import SourceBuffer, read_network_c

_QUANTISED = ("int8", "uint8", "int16", "uint16")
# Node Conv2D_16 has the weights Conv2D_16_weights; other layouts of them have words behind (INFERRED from Core 2.1 to 4.0).
_WEIGHTS = re.compile(r"(\w+?_\d+)_weights(?:_[a-z]\w*)?", re.ASCII)


@dataclass(frozen=True)
class MadeBuffer:
    """A buffer that an epoch makes.

    Attributes:
        name: Name of the buffer.
        epoch: ST's number of the epoch that makes it.
        address: Address; None if the application allocates it, or its pool is relative.
        bytes: Size.
        type: Type of a value; empty for values without a quantisation, such as partial sums.
        shape: Shape in memory: (1, C / b, H, W, b) if the channels are in groups of b.
        scale: Scale of the whole buffer; 1 for real numbers.
        zero_point: Zero point of the whole buffer.
        order: Place of the channels in memory.
    """

    name: str
    epoch: int
    address: int | None
    bytes: int
    type: str
    shape: tuple[int, ...]
    scale: float
    zero_point: int
    order: ChannelOrder = "unknown"


@dataclass(frozen=True)
class MadeBuffers:
    """The buffers of a network, and the weights of its nodes.

    Attributes:
        buffers: Buffers that epochs make, in the order of epochs. The list is empty if neither file
            lists buffers.
        kernels: Scales of the weights of a node, one for each channel or one for all, by its name.
    """

    buffers: tuple[MadeBuffer, ...]
    kernels: dict[str, tuple[float, ...]]


def made_buffers(folder: Path, name: str) -> MadeBuffers:
    """Return the buffers that epochs make, and the weights of the nodes.

    Raises:
        N6Error: As `read_artifacts`.
    """
    source = read_network_c(folder / f"{name}.c")
    info = folder / f"{name}_c_info.json"
    kernels: dict[str, tuple[float, ...]] = {}
    if source.internals:
        found = [_from_source(each) for each in (*source.internals, *source.outputs) if each.epoch > 0]
        kernels = _kernels((each.name, each.scale) for each in source.params)
    elif is_file(info):
        document = read_json(info)
        bases = {pool["id"].count(): _base(pool) for pool in document["memory_pools"]}
        found = [made for each in document["buffers"] for made in _from_info(each, bases)]
        kernels = _kernels(_weights_of_info(document))
    else:
        found = []
    return MadeBuffers(tuple(sorted(found, key=lambda made: made.epoch)), kernels)


def _kernels(weights: Iterable[tuple[str, tuple[float, ...]]]) -> dict[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = {}
    for name, scales in weights:
        match = _WEIGHTS.fullmatch(name)
        if match and scales:
            found.setdefault(match[1], scales)
    return found


def _from_source(buffer: SourceBuffer) -> MadeBuffer:
    is_quantised = buffer.type in _QUANTISED and len(buffer.scale) == len(buffer.offset) == 1
    return MadeBuffer(
        name=buffer.name,
        epoch=buffer.epoch,
        address=None if buffer.base is None else buffer.base + buffer.offset_start,
        bytes=buffer.offset_end - buffer.offset_start,
        type=buffer.type if is_quantised or buffer.type == "float32" else "",
        shape=buffer.shape,
        scale=buffer.scale[0] if is_quantised else 1.0,
        zero_point=buffer.offset[0] if is_quantised else 0,
        order=buffer.order,
    )


def _base(pool: JsonValue) -> int | None:
    address = pool.get("address")
    is_number = address is not None and (isinstance(address.data, int) or str(address.data).isdecimal())
    return address.count() if address is not None and is_number else None


def _from_info(buffer: JsonValue, bases: dict[int, int | None]) -> Iterator[MadeBuffer]:
    epochs = buffer.get("epochs")
    if buffer["is_param"].data is not False or epochs is None or not epochs["start"].count():
        return
    kind = str(TYPES.get(buffer["format"].text(), ""))
    scales, offsets = _quantisation(buffer)
    is_quantised = kind in _QUANTISED and len(scales) == len(offsets) == 1
    base = bases.get(buffer["mpool_id"].count())
    order, shape = _in_memory(buffer)
    yield MadeBuffer(
        name=buffer["name"].text(),
        epoch=epochs["start"].count(),
        address=None if base is None else base + buffer["offset_start"].count(),
        bytes=buffer["size_bytes"].count(),
        type=kind if is_quantised or kind == "float32" else "",
        shape=shape,
        scale=scales[0].number() if is_quantised else 1.0,
        zero_point=offsets[0].integer() if is_quantised else 0,
        order=order,
    )


def _quantisation(buffer: JsonValue) -> tuple[list[JsonValue], list[JsonValue]]:
    quantisation = buffer.get("intq")
    return ([], []) if quantisation is None else (list(quantisation["scales"]), list(quantisation["offsets"]))


def _weights_of_info(document: JsonValue) -> Iterator[tuple[str, tuple[float, ...]]]:
    for buffer in document["buffers"]:
        if buffer["is_param"].data is True and _WEIGHTS.fullmatch(buffer["name"].text()):
            scales, _ = _quantisation(buffer)
            yield buffer["name"].text(), tuple(each.number() for each in scales)


def _in_memory(buffer: JsonValue) -> tuple[ChannelOrder, tuple[int, ...]]:
    """Return order and shape in memory, from (1, C, H, W) and the groups."""
    shape = tuple(size.count() for size in buffer["shape"].at_most(MAX_AXES))
    if len(shape) != 4:
        return "unknown", shape
    count, channels, height, width = shape
    last = (count, height, width, channels)
    is_first, is_last = (buffer[f"channel_{place}"].data is True for place in ("first", "last"))
    if is_first:
        return "first", shape
    batch = group.count() if (group := buffer.get("batch")) else channels if is_last else 1
    if batch == channels:
        return "last", last
    grouped = in_groups(last, batch)
    return ("groups", grouped) if grouped else ("unknown", shape)
