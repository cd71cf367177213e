"""A relocatable model of any ABI, put together byte by byte: what is not at hand as a file of ST's tools.

Numbers are those that such files are known to have; code and constants are empty.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from n6build.network.ll_aton import Version
from n6build.reloc.layout import MAGIC, abi_of, up, version_words

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


def synthetic_model(
    version: Version, pools: tuple[Pool, ...] = POOLS, weights: bytes = WEIGHTS, more_code: int = 0
) -> bytes:
    """GOT of three words (one of each segment), two relocations, bss of 100 bytes. more_code: bytes behind the multiple of 64
    that its read-only part has."""
    abi = abi_of(version)
    code = bytearray(b"\x70\x47" * 16)
    names = {}
    for text in ("network", "GIT (RELOC.GCC)", *(pool.name for pool in pools)):
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
    got_at = pools_at + len(table)
    got = struct.pack("<4I", 0, 0x80000010, FLASH + abi.header_bytes, RAM + 4)
    data = interface + context + table + got
    data_end = got_at
    image = data.ljust(up(len(data)), b"\0")

    relocations = [RAM, RAM + 4, RAM + context_at + 4 * abi.context_fields.index("name")]
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
    head = header + struct.pack(f"<{len(entries) + 1}I", *entries, RAM + context_at)
    body = (head + bytes(code)).ljust(read_only, b"\0") + image + struct.pack(f"<{len(relocations)}I", *relocations)
    return body.ljust(params_offset, b"\0") + blob
