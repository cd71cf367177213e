"""network_rel.bin and, in split models, network_rel_params.bin."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import write_chunks_atomically
from n6build.place.reloc.linked_model import LinkedModel
from n6build.place.reloc.model_format import (
    CONTEXT_FIELDS,
    PARAMS_OFFSET_WORD,
    REL_END_WORD,
    REL_START_WORD,
    WORD,
    PoolContent,
    PoolType,
    Segment,
    offset,
    segment,
    up,
)

_POOL = struct.Struct("<5I")
_CRC_OFFSET = WORD * CONTEXT_FIELDS.index("params_file_crc32")
_SIZE_OFFSET = WORD * CONTEXT_FIELDS.index("params_file_bytes")


def crc32_of(chunks: Iterable[bytes]) -> tuple[int, int]:
    """Return (CRC-32 as zlib computes it, number of bytes)."""
    crc, size = 0, 0
    for chunk in chunks:
        crc = zlib.crc32(chunk, crc)
        size += len(chunk)
    return crc, size


def model_file(linked: LinkedModel, params: tuple[int, int] | None) -> bytes:
    """Return network_rel.bin up to its weights.

    Blobs in front of the weights count as weights.

    Args:
        linked: the linked model.
        params: CRC-32 and size of the weights that follow; None if they are a separate file. That
            file carries its own CRC, so that new weights leave this file unchanged.

    Raises:
        N6Error: N6-RELOC-014 if the size of the weights differs from that of the compiled model;
            N6-RELOC-010 if the model has no context; N6-RELOC-024 if blobs have no place.
    """
    data = bytearray(linked.data)
    context = _context_offset(linked)
    if linked.blobs:
        _make_room_for_blobs(data, linked, context)
    (expected,) = struct.unpack_from("<I", data, context + _SIZE_OFFSET)
    if params is not None:
        crc, size = params
        if size != expected:
            what = f"the weights have {size} bytes, the model was compiled for {expected}"
            raise N6Error("N6-RELOC-014", what, hint="build again")
        struct.pack_into("<I", data, context + _CRC_OFFSET, crc)
    start = up(len(linked.read_only) + len(data))
    end = start + WORD * len(linked.relocations)
    size = up(end)
    head = bytearray(linked.read_only)
    for word, value in (
        (REL_START_WORD, Segment.FLASH.origin + start),
        (REL_END_WORD, Segment.FLASH.origin + end),
        (PARAMS_OFFSET_WORD, 0 if params is None else size),
    ):
        struct.pack_into("<I", head, WORD * word, value)
    body = bytes(head + data).ljust(start, b"\0")
    return (body + struct.pack(f"<{len(linked.relocations)}I", *linked.relocations)).ljust(size, b"\0")


def with_blobs(linked: LinkedModel, params: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the file of the weights. params: content of the memory pools."""
    if linked.blobs:
        yield linked.blobs
    yield from params


def _make_room_for_blobs(data: bytearray, linked: LinkedModel, context: int) -> None:
    """Move the weights behind the blobs.

    The weights begin later in their file. Their pool, which a loader takes for the whole segment,
    begins with the blobs.
    """
    room = len(linked.blobs)
    (size,) = struct.unpack_from("<I", data, context + _SIZE_OFFSET)
    struct.pack_into("<I", data, context + _SIZE_OFFSET, size + room)
    has_segment = False
    at = offset(linked.header["pools"])
    while at + _POOL.size <= len(data):
        name, flags, foff, destination, size = _POOL.unpack_from(data, at)
        if not flags:
            break
        if flags >> 24 == PoolType.RELOC and flags & 0xFF == 0:
            has_segment = True
            _POOL.pack_into(data, at, name, flags, 0, destination, room + foff + size)
        elif flags >> 16 & 0xFF != PoolContent.ACTIV:
            _POOL.pack_into(data, at, name, flags, foff + room, destination, size)
        at += _POOL.size
    if not has_segment:
        what = "has no relative, read-only memory pool for its blobs"
        raise N6Error("N6-RELOC-024", what, hint="omit --ecblob-in-params")


def _context_offset(linked: LinkedModel) -> int:
    """Return the offset of the context in the data image.

    The context's address follows the entry points.
    """
    words = struct.iter_unpack("<I", linked.read_only[WORD * (PARAMS_OFFSET_WORD + 1) : WORD * 64])
    address = next((word for (word,) in words if segment(word) == Segment.RAM), None)
    if address is None or offset(address) + _CRC_OFFSET + WORD > len(linked.data):
        raise N6Error("N6-RELOC-010", "is not a linked model: it has no context")
    return offset(address)


def write_model(path: Path, linked: LinkedModel, params: Iterable[bytes], checked: tuple[int, int]) -> None:
    """Write the model with its weights, which are streamed.

    Args:
        path: file to write.
        linked: the linked model.
        params: content of the weights' file.
        checked: CRC-32 and size in bytes of the weights.

    Raises:
        N6Error: the errors of `model_file`.
    """

    def chunks() -> Iterator[bytes]:
        yield model_file(linked, checked)
        yield from params

    write_chunks_atomically(path, chunks())
