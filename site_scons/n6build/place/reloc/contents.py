"""The network inside a relocatable model: the facts of network.c, from the file.

Inputs, outputs and epochs are tables in its data, with the layout of ll_aton's headers
(ll_aton_NN_interface.h). It is the same in all releases with relocatable models, with short enums
as in the ABI of the Cortex-M.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import (
    EpochBlock,
    EpochInfo,
    IoBuffer,
    NetworkArtifacts,
    PoolRange,
    Quantised,
    TensorType,
)
from n6build.place.reloc.model_format import WORD, WRITE, PoolContent, PoolType, Segment, offset, segment
from n6build.place.reloc.reader import RelocFile
from n6build.place.reloc.thumb import NotConstantError, returned_address

_BUFFER = struct.Struct("<5I2BHIIH2B4B2B2x3I")
_BUFFER_FIELDS = (
    *("name", "base", "start", "end", "limit", "is_own", "is_param", "epoch", "batch"),
    *(
        "mem_shape",
        "mem_dimensions",
        "channels",
        "type",
        "qm",
        "qn",
        "is_unsigned",
        "dimensions",
        "bits",
        "per_channel",
    ),
    *("shape", "scale", "zero_point"),
)
# An epoch block has start, end, blob, mask and flags. Debug fields follow: its first and its last epoch, and more.
_BLOCK = struct.Struct("<4IH")
_BLOCK_NUMBERS = struct.Struct("<2h")
_BLOCK_BYTES = {True: 48, False: 20}
_MOST_BUFFERS = 256
_MOST_DIMENSIONS = 16
_MOST_EPOCHS = 0x7FFF
_MOST_TEXT = 256
# Values of EpochBlock_Flags_... in ll_aton.
_BLOB, _LAST, _PURE_HW, _PURE_SW, _HYBRID = 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6
_MAPPINGS = ((_BLOB, "NODE_EC"), (_HYBRID, "NODE_SW_HW"), (_PURE_HW, "NODE_HW"), (_PURE_SW, "NODE_SW"))
# The values of Buffer_DataType_TypeDef that inputs and outputs have, with the bytes of an element.
_TYPES: dict[int, tuple[TensorType, int]] = {
    1: ("float32", 4),
    6: ("uint8", 1),
    7: ("int8", 1),
    8: ("uint16", 2),
    9: ("int16", 2),
    10: ("int32", 4),
    11: ("int64", 8),
    13: ("bool", 1),
}


@dataclass(frozen=True)
class _Tables:
    """A model whose words are read at their link addresses.

    Attributes:
        rebased: link addresses of words that a loader turns into addresses.
    """

    model: RelocFile
    rebased: frozenset[int]

    def bytes_at(self, address: int, size: int) -> bytes:
        """Return bytes of the code and constants, or of the data.

        Raises:
            N6Error: N6-RELOC-040 outside of both.
        """
        model, at = self.model, offset(address)
        start, end = {
            int(Segment.FLASH): (0, model.read_only_bytes),
            int(Segment.RAM): (model.read_only_bytes, model.read_only_bytes + model.image_bytes),
        }.get(segment(address), (0, 0))
        if start + at + size > end:
            raise _unreadable(model, f"0x{address:08X} is outside of its code and data")
        return model.data[start + at : start + at + size]

    def word(self, address: int) -> int:
        """Return the word at a link address."""
        return int.from_bytes(self.bytes_at(address, WORD), "little")

    def text(self, address: int) -> str:
        """Return the name at a link address, with '?' for letters that cannot be printed."""
        room = self.model.read_only_bytes if segment(address) == Segment.FLASH else self.model.image_bytes
        data = self.bytes_at(address, max(1, min(_MOST_TEXT, room - offset(address))))
        text = data.partition(b"\0")[0].decode("utf-8", "replace")
        return "".join(letter if letter.isprintable() else "?" for letter in text)

    def table(self, entry: str) -> int:
        """Return the link address of an entry point's table; 0 if it has none."""
        try:
            return returned_address(self.model.entries[entry], self.word)
        except NotConstantError as error:
            raise _unreadable(self.model, f"entry point {entry} {error}") from error


def artifacts_of(model: RelocFile, file: Path, name: str) -> NetworkArtifacts:
    """Return the description of a model as later stages know networks.

    Args:
        model: the file's content.
        file: the file itself.
        name: name of the network, for the names of files.

    Raises:
        N6Error: N6-RELOC-040 if the tables cannot be found or are invalid.
    """
    tables = _Tables(model, frozenset((*model.relocations, *model.got)))
    ports = {kind: tuple(_ports(tables, f"{kind}_buffers_info")) for kind in ("input", "output")}
    blocks = tuple(_blocks(tables))
    return NetworkArtifacts(
        name=name,
        suffix=name,
        source=file,
        pools=tuple(_pools(model)),
        initializers=(),
        inputs=ports["input"],
        outputs=ports["output"],
        quantised=tuple(
            Quantised(each.name, each.type, (each.scale, each.scale), (each.zero_point, each.zero_point), is_io=True)
            for each in (*ports["input"], *ports["output"])
            if each.type != "float32"
        ),
        epochs=tuple(
            EpochInfo(number, f"epoch_{number}", "", 0, 0, block.mapping)
            for block in blocks
            for number in range(block.first, block.last + 1)
        ),
        ll_aton=model.version,
        library_call=None,
        tools=(("relocatable model", model.version_text),),
        described_by=file.name,
        blocks=blocks,
    )


def contents_text(model: RelocFile, file: Path) -> str:
    """Return the inputs, the outputs and the number of epochs of each kind as text.

    Args:
        model: the model.
        file: the model's file.

    Raises:
        N6Error: the errors of `artifacts_of`.
    """
    artifacts = artifacts_of(model, file, model.name)
    lines = [line for name in ("inputs", "outputs") for line in (name, *map(_port_text, getattr(artifacts, name)))]
    counts = Counter(epoch.mapping for epoch in artifacts.epochs)
    return "\n".join([*lines, "epochs", *(f"  {mapping:<12}{count}" for mapping, count in counts.items())]) + "\n"


def _port_text(port: IoBuffer) -> str:
    shape = "x".join(map(str, port.shape))
    place = "of the application" if port.own else "relative" if port.address is None else f"at 0x{port.address:08X}"
    scale = f", scale {port.scale:g}, zero point {port.zero_point}" if port.type != "float32" else ""
    return f"  {port.name}  {port.type} {shape}, {port.bytes} bytes {place}{scale}"


def _unreadable(model: RelocFile, why: str) -> N6Error:
    return N6Error(
        "N6-RELOC-040",
        f"its inputs and outputs cannot be read: {why}",
        where=model.name,
        hint="run tools/reloc.py verify; if it finds no error, report this file",
    )


def _pools(model: RelocFile) -> Iterator[PoolRange]:
    for pool in model.pools:
        weights = 0 if pool.content is PoolContent.ACTIV else pool.size
        yield PoolRange(
            name=pool.name,
            fname=pool.name,
            address=0 if pool.type is PoolType.RELOC else pool.destination,
            size=pool.size,
            used_bytes=pool.size,
            weights_bytes=weights,
            rights="ACC_WRITE" if pool.attributes & WRITE else "ACC_READ",
            relative=pool.type is PoolType.RELOC,
        )


def _ports(tables: _Tables, entry: str) -> Iterator[IoBuffer]:
    """Yield inputs or outputs, without the weights that some releases list with them.

    These releases list weights after the inputs.
    """
    start = tables.table(entry)
    for number in range(_MOST_BUFFERS):
        at = start + number * _BUFFER.size
        if not tables.word(at):
            return
        port = _port(tables, at)
        if port:
            yield port
    raise _unreadable(tables.model, f"{entry} lists more than {_MOST_BUFFERS} buffers")


def _port(tables: _Tables, at: int) -> IoBuffer | None:
    found = dict(zip(_BUFFER_FIELDS, _BUFFER.unpack(tables.bytes_at(at, _BUFFER.size)), strict=True))
    if found["is_param"]:
        return None
    name, size = tables.text(found["name"]), found["end"] - found["start"]
    if found["type"] not in _TYPES:
        raise _unreadable(tables.model, f"buffer {name} has the unknown type {found['type']}")
    if size < 0:
        raise _unreadable(tables.model, f"buffer {name} ends before it begins")
    type, bytes_each = _TYPES[found["type"]]
    shape = _numbers(tables, found["mem_shape"], found["mem_dimensions"])
    shape = shape or _numbers(tables, found["shape"], found["dimensions"])
    # A row may be padded, so that the buffer has more bytes than its elements need.
    if size < math.prod(shape) * bytes_each:
        raise _unreadable(tables.model, f"buffer {name} has {size} bytes for {type} {'x'.join(map(str, shape))}")
    is_quantised = type != "float32" and found["scale"] and found["zero_point"]
    return IoBuffer(
        name=name,
        address=None if found["is_own"] or at + WORD in tables.rebased else found["base"] + found["start"],
        bytes=size,
        type=type,
        shape=shape,
        scale=struct.unpack("<f", tables.bytes_at(found["scale"], WORD))[0] if is_quantised else 1.0,
        zero_point=_zero_point(tables, found["zero_point"], type) if is_quantised else 0,
        own=bool(found["is_own"]),
    )


def _numbers(tables: _Tables, address: int, count: int) -> tuple[int, ...]:
    if not address or not 0 < count <= _MOST_DIMENSIONS:
        return ()
    return struct.unpack(f"<{count}I", tables.bytes_at(address, 4 * count))


def _zero_point(tables: _Tables, address: int, type: TensorType) -> int:
    """Return a zero point: 16 bits in every known release.

    This also holds for a uint8 above 127.
    """
    (value,) = struct.unpack("<h", tables.bytes_at(address, 2))
    return value & 0xFF if type == "uint8" else int(value)


def _blocks(tables: _Tables) -> Iterator[EpochBlock]:
    """Yield the epoch blocks.

    Without debug fields epochs have no numbers, and are counted as the firmware counts them.
    """
    start = tables.table("epoch_items")
    has_numbers = tables.model.flags.debug_info
    for number in range(_MOST_EPOCHS):
        at = start + number * _BLOCK_BYTES[has_numbers]
        *_, flags = _BLOCK.unpack(tables.bytes_at(at, _BLOCK.size))
        if flags & _LAST:
            return
        mapping = next((name for bit, name in _MAPPINGS if flags & bit), "")
        if not mapping:
            raise _unreadable(tables.model, f"epoch block {number} has the flags 0x{flags:04X}")
        first = last = number + 1
        if has_numbers:
            first, last = _BLOCK_NUMBERS.unpack(tables.bytes_at(at + _BLOCK.size, _BLOCK_NUMBERS.size))
        if not 0 <= first <= last:
            raise _unreadable(tables.model, f"epoch block {number} contains epochs {first} to {last}")
        yield EpochBlock(first, last, mapping)
    raise _unreadable(tables.model, f"its table of epochs has more than {_MOST_EPOCHS} entries")
