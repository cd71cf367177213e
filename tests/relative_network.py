"""Networks of ST's compiler whose flash pool is made relative.

Few real ones exist: the samples have one network with a relative pool. The weights of the others
are at a fixed address, which relocatable models cannot have. The output of ST's compiler for
USEMODE_RELATIVE is known from that one network. In network.c, the pool's symbol replaces its
address. In a blob of the epoch controller, offsets replace addresses, and a table gives their
places.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from pathlib import Path

from blob_containers import in_container
from n6build.compile.artifacts.network_c import SourcePool, parse_network_c
from n6build.compile.prebuilt.imported import import_network
from n6build.describe.compiled_folder import find_network
from n6build.describe.formats.npu_blob import MAGIC
from n6build.judge.npu.blobs import blob_of_words
from n6build.judge.npu.containers import Relocation
from n6build.judge.npu.disassemble import WriteSeries, instructions

# These registers of a stream engine hold addresses: ADDR and LIMITADDR.
_ADDRESSES = (0x08, 0x38)
_READ_AHEAD = 64
_ARRAY = re.compile(r"(static const uint64_t (_ec_blob_\w+)\[)\d+(\] =\n\{\n)([^}]*)(\};)")
_COPIED = re.compile(r"  if \(!ec_copy_blob\(\(ECInstr \*\)(\w+)_ptr,.*?\n  \}\n", re.DOTALL)


def with_relative_flash(source: Path, out: Path, fname: str = "xSPI2") -> Path:
    """Write a network with a relative pool, and return the folder with it.

    Args:
        source: Folder with the network as ST's compiler wrote it, at fixed addresses, its blobs in
            containers.
        out: New folder.
        fname: Name of the pool with the weights.
    """
    out.mkdir(parents=True)
    found = find_network(source)
    import_network(found, out)
    path = out / found.source.name
    text = path.read_text()
    parsed = parse_network_c(text, path.name)
    (pool,) = (each for each in parsed.pools if each.fname == fname)
    symbol = f"_mem_pool_{fname}_{parsed.suffix}"
    weights = max(buffer.offset_end for buffer in parsed.params)
    line = next(each for each in text.splitlines() if each.startswith("/* index=") and f"postfix={fname} " in each)
    declared = line.replace("absolute_mode", "relative_mode") + f"\nextern unsigned char {symbol}[]; /* [{weights}]; */"
    assert declared.count("relative_mode") == 1
    code = text.replace(line, declared)
    path.write_text(re.sub(rf"\b0x{pool.address:08x}UL\b", f"((uintptr_t){symbol})", code))
    for header in out.glob("*_ecblobs.h"):
        header.write_text(_relative_blobs(header.read_text(), pool, symbol))
    return out


def _relative_blobs(text: str, pool: SourcePool, symbol: str) -> str:
    indices: dict[str, int] = {}

    def relative(match: re.Match[str]) -> str:
        words = [
            int(word, 16) >> shift & 0xFFFF_FFFF for word in re.findall(r"0x(\w+)UL", match[4]) for shift in (0, 32)
        ]
        container, indices[match[2]] = _relocated(words, pool)
        pairs = struct.unpack(f"<{len(container) // 2}Q", struct.pack(f"<{len(container)}I", *container))
        numbers = ", ".join(f"0x{pair:016x}UL" for pair in pairs)
        return f"{match[1]}{len(pairs)}{match[3]}{numbers}\n{match[5]}"

    def relocating(match: re.Match[str]) -> str:
        blob = match[1]
        return (
            f"{match[0]}  {{\n    ECAddr base = 0;\n    if (!ec_reloc((ECInstr *){blob}_ptr, {blob}_reloc_table_ptr, "
            f"{indices[blob]}, (ECAddr)(uintptr_t){symbol}, &base)) return false;\n  }}\n"
        )

    return _COPIED.sub(relocating, _ARRAY.sub(relative, text))


def _relocated(words: Sequence[int], pool: SourcePool) -> tuple[list[int], int]:
    """Return a container with relative addresses, and the index of their relocation.

    Its blob has offsets instead of addresses of the pool.
    """
    found = blob_of_words(words, pool.fname)
    assert found.container
    blob = [MAGIC, len(found.words), *found.words]
    places = []
    for each in instructions(found):
        if not isinstance(each, WriteSeries):
            continue
        for number, value in enumerate(each.values):
            if each.offset + number * each.step in _ADDRESSES and 0 <= value - pool.address < pool.size + _READ_AHEAD:
                place = each.at + 1 + number
                blob[2 + place] -= pool.address
                places.append(place)
    assert places
    relocations = [*found.container.relocations, Relocation(pool.fname, tuple(places))]
    whole = in_container(found.container.layout, blob, relocations)
    return whole + [0] * (len(whole) % 2), len(relocations) - 1
