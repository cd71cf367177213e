"""Reader of network_rel.bin, made by n6build or by ST's tools, of any ABI.

It trusts no value in the file: an invalid file must not reach a firmware.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.compile.ll_aton import Version
from n6build.place.reloc.model_format import (
    ABI_A,
    ABI_B,
    ABI_C,
    HEADER_FIELDS,
    MAGIC,
    MAX_POOLS,
    STRUCT_SIZES_FIELD,
    WORD,
    Abi,
    Flags,
    PoolContent,
    PoolDescriptor,
    PoolType,
    Segment,
    abi_of,
    offset,
    segment,
    up,
    version_of,
)

MAX_BYTES = 256 << 20
_MAX_TEXT = 256
_POOL = struct.Struct("<5I")


@dataclass(frozen=True)
class RelocFile:
    """The contents of network_rel.bin.

    Attributes:
        header: words by the names of layout.HEADER_FIELDS.
        entries: link addresses of the entry points, by name.
        context: words of the context by field, as in the file.
        relocations: link addresses of words to rebase, as the table has them.
        got: link addresses of the GOT's words.
        data: the whole file.
    """

    name: str
    version_text: str
    abi: Abi
    version: Version
    flags: Flags
    header: dict[str, int]
    entries: dict[str, int]
    context: dict[str, int]
    pools: tuple[PoolDescriptor, ...]
    relocations: tuple[int, ...]
    data: bytes

    @property
    def read_only_bytes(self) -> int:
        """Bytes of header, code and constants."""
        return offset(self.header["data_image"])

    @property
    def image_bytes(self) -> int:
        """Bytes of the initialised RAM, which follows the read-only part."""
        return offset(self.header["bss_start"])

    @property
    def xip_bytes(self) -> int:
        """Bytes of executable RAM for an installation in place: data, GOT and bss."""
        return up(offset(self.header["bss_end"]))

    @property
    def copy_bytes(self) -> int:
        """Bytes of executable RAM for an installation with a copy of the code."""
        return up(self.xip_bytes + self.read_only_bytes)

    @property
    def params_offset(self) -> int:
        """Offset of the weights in the file, in bytes; 0 if they are a separate file."""
        return self.header["params_offset"]

    @property
    def weights_offset(self) -> int:
        """Offset of the weights in the file; its end if they are a separate file."""
        return self.file_bytes if self.is_split else self.params_offset

    @property
    def params_bytes(self) -> int:
        """Bytes of the weights."""
        return self.context["params_file_bytes"]

    @property
    def is_split(self) -> bool:
        """Return whether the weights are a separate file."""
        return self.params_offset == 0

    @property
    def file_bytes(self) -> int:
        """Bytes of the file according to its header."""
        return up(offset(self.header["rel_end"])) if self.is_split else self.params_offset + self.params_bytes

    @property
    def code_crc32(self) -> int:
        """CRC-32 of everything but the weights, which identifies the weights' model."""
        return zlib.crc32(self.data[: up(offset(self.header["rel_end"]))])

    @property
    def got(self) -> range:
        """Link addresses of the words of the GOT."""
        return range(self.header["got_start"], self.header["got_end"], WORD)

    def image_word(self, address: int) -> int:
        """Return the word at a link address in RAM, as the file has it.

        Raises:
            N6Error: N6-RELOC-032 outside the image.
        """
        if segment(address) != Segment.RAM or address % WORD or offset(address) + WORD > self.image_bytes:
            raise _damaged(f"0x{address:08X} is not a word of its data", "")
        (word,) = struct.unpack_from("<I", self.data, self.read_only_bytes + offset(address))
        return int(word)


def read_reloc_file(path: Path) -> RelocFile:
    """Read a relocatable model from a file.

    Raises:
        N6Error: N6-FILE-002; N6-FILE-003 if the file has more than MAX_BYTES; the errors of
            `parse_reloc_file`.
    """
    return parse_reloc_file(read_at_most(path, MAX_BYTES), path.name)


def parse_reloc_file(data: bytes, file: str) -> RelocFile:
    """Read a relocatable model from bytes. file: name of the file in messages.

    Raises:
        N6Error: N6-RELOC-030 if the file is not a relocatable model; N6-RELOC-031 if it is cut off;
            N6-RELOC-032 if an address is out of range; N6-RELOC-033 if the pools are wrong;
            N6-RELOC-034 if the relocations are wrong.
    """
    if len(data) < 4 or struct.unpack_from("<I", data)[0] != MAGIC:
        hint = "pass the network_rel.bin of npu_driver.py or `stedgeai --relocatable`, not its weights or a firmware"
        what = "is not a relocatable model: it does not begin with NBIN"
        raise N6Error("N6-RELOC-030", what, where=file, hint=hint)
    if len(data) < ABI_A.header_bytes:
        what = f"ends after {len(data)} bytes, but a header has at least {ABI_A.header_bytes}"
        raise N6Error("N6-RELOC-031", what, where=file)
    header = dict(zip(HEADER_FIELDS, struct.unpack_from(f"<{len(HEADER_FIELDS)}I", data), strict=True))
    _check_layout(header, len(data), file)
    abi = _abi_of_header(data, header, file)
    context = _context(data, header, abi, file)
    version = version_of(context["version"], context["version_dev"])
    abi = _refined(abi, version)
    context = _context(data, header, abi, file)
    first = len(HEADER_FIELDS)
    entries = struct.unpack_from(f"<{len(abi.entries)}I", data, first * WORD)
    start, end = offset(header["rel_start"]), offset(header["rel_end"])
    if end - start > offset(header["bss_start"]):
        words = offset(header["bss_start"]) // WORD
        what = f"has {(end - start) // WORD} relocations, more than its {words} words of data"
        raise N6Error("N6-RELOC-034", what, where=file)
    return RelocFile(
        name=_text(data, context["name"], file),
        version_text=_text(data, context["version_text"], file),
        abi=abi,
        version=version,
        flags=Flags.of(header["flags"]),
        header=header,
        entries=dict(zip(abi.entries, entries, strict=True)),
        context=context,
        pools=tuple(_pools(data, header, file)),
        relocations=struct.unpack_from(f"<{(end - start) // WORD}I", data, start),
        data=data,
    )


def _damaged(what: str, file: str) -> N6Error:
    hint = "copy the file again: it is damaged, or not a relocatable model"
    return N6Error(
        "N6-RELOC-032", f"it contains an address outside of its parts: {what}", where=file or None, hint=hint
    )


def _check_layout(header: dict[str, int], size: int, file: str) -> None:
    """Check that the parts follow one another inside the file.

    The parts are the read-only part, the data image and the table of relocations.
    """

    def check(good: bool, what: str) -> None:
        if not good:
            raise _damaged(what, file)

    def ordered(first: str, last: str, expected: Segment) -> None:
        start, end = header[first], header[last]
        check(segment(start) == expected == segment(end) and start <= end, f"{first} 0x{start:08X}, {last} 0x{end:08X}")

    check(header["data_start"] == Segment.RAM.origin, f"data_start 0x{header['data_start']:08X}")
    check(segment(header["data_image"]) == Segment.FLASH, f"data_image 0x{header['data_image']:08X}")
    for first, last in (("data_start", "data_end"), ("bss_start", "bss_end"), ("got_start", "got_end")):
        ordered(first, last, Segment.RAM)
    ordered("rel_start", "rel_end", Segment.FLASH)
    image = offset(header["bss_start"])
    check(offset(header["got_end"]) <= image, f"got_end 0x{header['got_end']:08X}")
    check(offset(header["data_end"]) <= image, f"data_end 0x{header['data_end']:08X}")
    for name in ("got_start", "got_end", "rel_start", "rel_end", "bss_start"):
        check(header[name] % WORD == 0, f"{name} 0x{header[name]:08X} is not a word")
    read_only = offset(header["data_image"])
    check(read_only >= ABI_A.header_bytes, f"data_image 0x{header['data_image']:08X}")
    check(read_only + image <= offset(header["rel_start"]), f"rel_start 0x{header['rel_start']:08X}")
    check(
        segment(header["pools"]) == Segment.RAM and offset(header["pools"]) + _POOL.size <= image,
        f"pool table 0x{header['pools']:08X}",
    )
    ends = max(offset(header["rel_end"]), header["params_offset"])
    if ends > size:
        raise N6Error("N6-RELOC-031", f"ends after {size} bytes, but its header reports {ends}", where=file)


def _abi_of_header(data: bytes, header: dict[str, int], file: str) -> Abi:
    """Return B or C, by the place of the context's address.

    Every ABI older than C has two entry points fewer.
    """
    for abi in (ABI_B, ABI_C):
        if offset(header["data_image"]) >= abi.header_bytes:
            (address,) = struct.unpack_from("<I", data, abi.context_word * WORD)
            if segment(address) == Segment.RAM:
                return abi
    raise _damaged("no context behind the entry points", file)


def _refined(by_header: Abi, version: Version) -> Abi:
    """Return A in place of B, or D in place of C, if the version requires it.

    `verify` reports a version that does not fit the header.
    """
    by_version = abi_of(version)
    return by_version if by_version.header_bytes == by_header.header_bytes else by_header


def _context(data: bytes, header: dict[str, int], abi: Abi, file: str) -> dict[str, int]:
    (address,) = struct.unpack_from("<I", data, abi.context_word * WORD)
    at = offset(address)
    if at % WORD or at + abi.context_bytes > offset(header["bss_start"]):
        raise _damaged(f"context 0x{address:08X}", file)
    words = struct.unpack_from(f"<{len(abi.context_fields)}I", data, offset(header["data_image"]) + at)
    return {STRUCT_SIZES_FIELD: 0, **dict(zip(abi.context_fields, words, strict=True))}


def _text(data: bytes, address: int, file: str) -> str:
    """Return a name from the read-only part."""
    if address == 0:
        return ""
    start = offset(address)
    if segment(address) != Segment.FLASH or start >= len(data):
        raise _damaged(f"text at 0x{address:08X}", file)
    end = data.find(b"\0", start, start + _MAX_TEXT)
    text = data[start : end if end >= 0 else start + _MAX_TEXT].decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _pools(data: bytes, header: dict[str, int], file: str) -> Iterator[PoolDescriptor]:
    """Yield the memory pools.

    A loader stops at flags or name 0, and refuses a tenth pool. Names are in the read-only part.
    """
    at = offset(header["data_image"]) + offset(header["pools"])
    read_only = data[: offset(header["data_image"])]
    end = offset(header["data_image"]) + offset(header["bss_start"])
    for number in range(MAX_POOLS + 1):
        if at + _POOL.size > end:
            raise _damaged("the pool table has no end", file)
        name, flags, foff, destination, size = _POOL.unpack_from(data, at)
        if flags == 0:
            return
        if name == 0:
            what = f"memory pool {number} has no name: a loader interprets it as the end of the table"
            raise N6Error("N6-RELOC-033", what, where=file)
        if number == MAX_POOLS:
            raise N6Error("N6-RELOC-033", f"has more than {MAX_POOLS} memory pools", where=file)
        kind, content = flags >> 24, flags >> 16 & 0xFF
        if kind not in iter(PoolType) or content not in iter(PoolContent):
            raise N6Error("N6-RELOC-033", f"memory pool {number} has the unknown flags 0x{flags:08X}", where=file)
        yield PoolDescriptor(
            name=_text(read_only, name, file),
            type=PoolType(kind),
            content=PoolContent(content),
            attributes=flags >> 8 & 0xFF,
            id=flags & 0xFF,
            foff=foff,
            destination=destination,
            size=size,
        )
        at += _POOL.size
