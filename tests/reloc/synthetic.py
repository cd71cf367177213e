"""A relocatable model of any ABI, assembled byte by byte.

It replaces files of ST's tools that are not at hand. Its numbers are those that such files are
known to have; code and constants are empty.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from n6build.compile.ll_aton import Version
from n6build.place.reloc.model_format import MAGIC, abi_of, up, version_words

FLASH, RAM = 0x20000000, 0x40000000


@dataclass(frozen=True)
class Pool:
    name: str
    flags: int
    foff: int
    destination: int
    size: int


POOLS = (Pool("xSPI2", 0x01010500, 0, 0, 61), Pool("AXISRAM5", 0x03020200, 0, 0x342E0000, 352_800))


WEIGHTS = bytes(range(61))


# Entry points with tables behind them, in the header's order.
TABLES = ("epoch_items", "output_buffers_info", "input_buffers_info")
# ldr r3, [pc, #4]; ldr.w r0, [r9, r3]; bx lr; then the offset in the GOT.
_THROUGH_GOT = bytes.fromhex("014b59f803007047")
_BUFFER = struct.Struct("<5I2BHIIH2B4B2B2x3I")
_BLOCK = struct.Struct("<4IH2h2x6I")


def synthetic_model(
    version: Version,
    pools: tuple[Pool, ...] = POOLS,
    weights: bytes = WEIGHTS,
    more_code: int = 0,
    *,
    tables: bool = False,
    npu: bool = True,
) -> bytes:
    """Return a model with a GOT of three words, two relocations and 100 bytes of bss.

    The GOT has one word of each segment.

    Args:
        more_code: Bytes behind the multiple of 64 of its read-only part.
        tables: Add tables of an int8 input of 2x3, a float output of 4 and three epochs, in two
            blocks.
        npu: The second block is a blob.
    """
    abi = abi_of(version)
    code = bytearray(b"\x70\x47" * 16)
    functions_at = len(code)
    code += bytes(12 * len(TABLES)) if tables else b""
    names = {}
    for text in ("network", *(["in", "out"] if tables else []), "GIT (RELOC.GCC)", *(pool.name for pool in pools)):
        names[text] = FLASH + abi.header_bytes + len(code)
        code += text.encode() + b"\0"
    read_only = up(abi.header_bytes + len(code), 64) + more_code
    blob = weights.ljust(up(len(weights)), b"\0")

    context_words = dict.fromkeys(abi.context_fields, 0)
    word, dev = version_words(version)
    context_words |= {
        "name": names["network"],
        "activation_bytes": sum(pool.size for pool in pools if pool.flags >> 16 & 0xFF == 2),
        "params_bytes": len(weights),
        "version_text": names["GIT (RELOC.GCC)"],
        "version": word,
        "version_dev": dev,
        "params_file_bytes": len(blob),
        "params_file_crc32": zlib.crc32(blob),
        "interface": RAM,
    }
    if "struct_sizes" in context_words:
        context_words["struct_sizes"] = 0x3038
    interface = struct.pack("<4I", names["network"], FLASH + abi.header_bytes + 1, 0, 0)
    context_at = len(interface)
    context = struct.pack(f"<{len(context_words)}I", *context_words.values())
    pools_at = context_at + len(context)
    table = b"".join(struct.pack("<5I", names[p.name], p.flags, p.foff, p.destination, p.size) for p in pools) + bytes(
        20
    )
    tables_at = pools_at + len(table)
    made = _tables(names, RAM + tables_at, npu=npu) if tables else _Made(b"", (), ())
    got_at = tables_at + len(made.data)
    got = struct.pack("<4I", 0, 0x80000010, FLASH + abi.header_bytes, RAM + 4)
    for number, address in enumerate(made.addresses):
        function = _THROUGH_GOT + struct.pack("<I", got_at + len(got))
        code[functions_at + 12 * number : functions_at + 12 * (number + 1)] = function
        got += struct.pack("<I", address)
    data = interface + context + table + made.data + got
    data_end = got_at
    image = data.ljust(up(len(data)), b"\0")

    relocations = [RAM, RAM + 4, RAM + context_at + 4 * abi.context_fields.index("name"), *made.pointers]
    rel_at = read_only + len(image)
    rel_end = rel_at + 4 * len(relocations)
    params_offset = up(rel_end)
    header = struct.pack(
        "<13I",
        MAGIC,
        0x80785D22,
        RAM,
        RAM + data_end,
        FLASH + read_only,
        RAM + len(image),
        RAM + len(image) + 100,
        RAM + got_at,
        RAM + got_at + len(got),
        FLASH + rel_at,
        FLASH + rel_end,
        RAM + pools_at,
        params_offset,
    )
    entries = [FLASH + abi.header_bytes + 4 * number + 1 for number in range(len(abi.entries))]
    if tables:
        for number, name in enumerate(TABLES):
            entries[abi.entries.index(name)] = FLASH + abi.header_bytes + functions_at + 12 * number + 1
    head = header + struct.pack(f"<{len(entries) + 1}I", *entries, RAM + context_at)
    body = (head + bytes(code)).ljust(read_only, b"\0") + image + struct.pack(f"<{len(relocations)}I", *relocations)
    return body.ljust(params_offset, b"\0") + blob


@dataclass(frozen=True)
class _Made:
    """Tables with their addresses.

    Attributes:
        addresses: Addresses of TABLES, in their order.
        pointers: Addresses of the words that a loader rebases.
    """

    data: bytes
    addresses: tuple[int, ...]
    pointers: tuple[int, ...]


def _tables(names: dict[str, int], at: int, *, npu: bool) -> _Made:
    """Return the tables.

    Args:
        at: Link address of the first byte.
    """
    shapes = struct.pack("<2I", 2, 3) + struct.pack("<I", 4)
    numbers = struct.pack("<fhh", 0.5, -7, 0)
    scale, zero_point = at + len(shapes), at + len(shapes) + 4
    start = len(shapes) + len(numbers)
    blocks = b"".join(
        _BLOCK.pack(FLASH + 0x81, FLASH + 0x83, 0, 0, flags, first, last, *[0] * 6)
        for flags, first, last in ((0x23, 1, 1), (0x07 if npu else 0x23, 2, 3), (0x08, 0, 0))
    )
    outputs = _buffer(names["out"], (32, 48), (at + 8, 1), 1, (0, 0)) + bytes(_BUFFER.size)
    inputs = _buffer(names["in"], (16, 22), (at, 2), 7, (scale, zero_point)) + bytes(_BUFFER.size)
    addresses = (at + start, at + start + len(blocks), at + start + len(blocks) + len(outputs))
    functions = [addresses[0] + 48 * number + word for number in range(3) for word in (0, 4)]
    of_buffers = [address + word for address in addresses[1:] for word in (0, 28, 44)]
    quantisation = [addresses[2] + word for word in (48, 52)]
    return _Made(shapes + numbers + blocks + outputs + inputs, addresses, (*functions, *of_buffers, *quantisation))


def _buffer(
    name: int, span: tuple[int, int], shape: tuple[int, int], kind: int, quantisation: tuple[int, int]
) -> bytes:
    address, sides = shape
    return _BUFFER.pack(
        *(name, 0x342E0000, *span, span[1], 0, 0, 0, 1, address, sides, 2, kind, 7, 0, 0, sides, 8, 0, address),
        *quantisation,
    )
