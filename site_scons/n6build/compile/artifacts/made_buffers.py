"""The quantised buffers that each epoch of a network makes.

They come from network.c if it lists them, else from c_info.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import is_file
from n6build.base.json_value import JsonValue, read_json
from n6build.compile.artifacts.c_info_reader import MAX_AXES, TYPES
from n6build.compile.artifacts.network_c import SourceBuffer, read_network_c

_QUANTISED = ("int8", "uint8", "int16", "uint16")


@dataclass(frozen=True)
class MadeBuffer:
    """A quantised buffer that an epoch makes.

    Attributes:
        name: Name of the buffer.
        epoch: ST's number of the epoch that makes it.
        address: Address; None if the application allocates it, or its pool is relative.
        bytes: Size.
        type: Type of a value.
        shape: Shape in memory: (1, C / b, H, W, b) if the channels are in groups of b.
        scale: Scale of the whole buffer.
        zero_point: Zero point of the whole buffer.
    """

    name: str
    epoch: int
    address: int | None
    bytes: int
    type: str
    shape: tuple[int, ...]
    scale: float
    zero_point: int


def made_buffers(folder: Path, name: str) -> tuple[MadeBuffer, ...]:
    """Return the quantised buffers that epochs make, by epoch.

    Buffers without a quantisation, such as partial sums, and those with one for each channel are
    left out. The result is empty if neither file lists buffers.

    Raises:
        N6Error: As `read_artifacts`.
    """
    source = read_network_c(folder / f"{name}.c")
    info = folder / f"{name}_c_info.json"
    if source.internals:
        found = [made for buffer in (*source.internals, *source.outputs) for made in _from_source(buffer)]
    elif is_file(info):
        document = read_json(info)
        bases = {pool["id"].count(): _base(pool) for pool in document["memory_pools"]}
        found = [made for buffer in document["buffers"] for made in _from_info(buffer, bases)]
    else:
        found = []
    return tuple(sorted(found, key=lambda made: made.epoch))


def _from_source(buffer: SourceBuffer) -> Iterator[MadeBuffer]:
    if buffer.type in _QUANTISED and len(buffer.scale) == len(buffer.offset) == 1 and buffer.epoch > 0:
        yield MadeBuffer(
            name=buffer.name,
            epoch=buffer.epoch,
            address=None if buffer.base is None else buffer.base + buffer.offset_start,
            bytes=buffer.offset_end - buffer.offset_start,
            type=buffer.type,
            shape=buffer.shape,
            scale=buffer.scale[0],
            zero_point=buffer.offset[0],
        )


def _base(pool: JsonValue) -> int | None:
    address = pool.get("address")
    is_number = address is not None and (isinstance(address.data, int) or str(address.data).isdecimal())
    return address.count() if address is not None and is_number else None


def _from_info(buffer: JsonValue, bases: dict[int, int | None]) -> Iterator[MadeBuffer]:
    kind, quantisation = TYPES.get(buffer["format"].text()), buffer.get("intq")
    if kind not in _QUANTISED or quantisation is None or buffer["is_param"].data is not False:
        return
    scales, offsets = list(quantisation["scales"]), list(quantisation["offsets"])
    epochs = buffer.get("epochs")
    if len(scales) != 1 or len(offsets) != 1 or epochs is None or not epochs["start"].count():
        return
    base = bases.get(buffer["mpool_id"].count())
    yield MadeBuffer(
        name=buffer["name"].text(),
        epoch=epochs["start"].count(),
        address=None if base is None else base + buffer["offset_start"].count(),
        bytes=buffer["size_bytes"].count(),
        type=str(kind),
        shape=_shape_in_memory(buffer),
        scale=scales[0].number(),
        zero_point=offsets[0].integer(),
    )


def _shape_in_memory(buffer: JsonValue) -> tuple[int, ...]:
    """Return the shape in memory, from (1, C, H, W) and the grouping of channels."""
    shape = tuple(size.count() for size in buffer["shape"].at_most(MAX_AXES))
    batch = group.count() if (group := buffer.get("batch")) else 1
    if len(shape) != 4 or buffer["channel_last"].data is not True or batch < 2 or shape[1] % batch:
        return shape
    count, channels, height, width = shape
    if batch == channels:
        return (count, height, width, channels)
    return (count, channels // batch, height, width, batch)
