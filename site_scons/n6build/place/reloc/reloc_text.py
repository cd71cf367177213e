"""Relocatable models as text, as JSON, and compared with each other."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from rich.box import SQUARE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from n6build.base.files import sha256, to_json
from n6build.compile.ll_aton import version_text
from n6build.place.reloc.model_format import PoolDescriptor
from n6build.place.reloc.reader import RelocFile

# Names are short. A terminal wraps wider lines.
_TABLE_WIDTH = 200


def summary(model: RelocFile) -> str:
    """Return the text that ST's tool prints about a model after making it."""
    rows = [
        ("XIP size", model.xip_bytes, " data+got+bss sections"),
        ("COPY size", model.copy_bytes, " +ro sections"),
        ("PARAMS offset", model.params_offset, ""),
        ("PARAMS size", model.params_bytes, ""),
    ]
    sizes = [f"   {name:<13} = {number:<9,} (0x{number:x}){note}\n" for name, number, note in rows]
    return "".join(sizes) + "\n" + pool_table(model.pools, model.header["pools"], _name_addresses(model))


def _name_addresses(model: RelocFile) -> list[int]:
    """Return the link addresses of the pools' names."""
    return [model.image_word(model.header["pools"] + number * 20) for number in range(len(model.pools))]


def pool_table(pools: Sequence[PoolDescriptor], address: int, names: Sequence[int]) -> str:
    """Return the memory pools as a table, as ST's tool prints it.

    Args:
        pools: memory pools.
        address: link address of the table.
        names: link addresses of the pools' names.
    """
    rows: list[tuple[str, str, int, str, int]] = [
        (
            f"{pool.name} ({name:08x})",
            f"{pool.flags:08x} {pool.flags_text}",
            pool.foff,
            f"{pool.destination:08x}",
            pool.size,
        )
        for pool, name in zip(pools, names, strict=True)
    ]
    rows.append(("<undefined> (00000000)", "00000000 UNUSED", 0, f"{0:08x}", 0))
    table = Table("name (addr)", "flags", "foff", "dst", "size", box=SQUARE)
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    text = io.StringIO()
    Console(file=text, width=_TABLE_WIDTH).print(table, markup=False, highlight=False)
    indented = "".join(f"   {line.rstrip()}\n" for line in text.getvalue().splitlines())
    return indented + f"    Table: mempool c-descriptors (off={address:08x}, {len(rows)} entries, from RAM)\n"


def as_dict(model: RelocFile) -> dict[str, object]:
    """Return the file's contents except code, data and weights; addresses in hex."""
    return {
        "name": model.name,
        "runtime": model.version_text,
        "ll_aton": version_text(model.version),
        "abi": model.abi.letter,
        "flags": {"word": f"0x{model.flags.word:08X}", **model.flags._asdict()},
        "bytes": {
            "file": len(model.data),
            "read_only": model.read_only_bytes,
            "xip": model.xip_bytes,
            "copy": model.copy_bytes,
            "params": model.params_bytes,
            "activations": model.context["activation_bytes"],
            "external_ram": model.context["external_ram_bytes"],
        },
        "split": model.is_split,
        "params_offset": model.params_offset,
        "params_crc32": f"0x{model.context['params_file_crc32']:08X}",
        "header": {name: f"0x{value:08X}" for name, value in model.header.items()},
        "entries": {name: f"0x{address:08X}" for name, address in model.entries.items()},
        "pools": [
            {
                "name": pool.name,
                "flags": f"0x{pool.flags:08X}",
                "kind": pool.flags_text,
                "foff": pool.foff,
                "destination": f"0x{pool.destination:08X}",
                "bytes": pool.size,
            }
            for pool in model.pools
        ],
        "relocations": len(model.relocations),
        "got_words": len(model.got),
        "sha256": sha256(model.data),
    }


def report_json(model: RelocFile, files: Sequence[tuple[str, int]]) -> str:
    """Return the JSON of ST's npu_driver 1.4 with --json, as far as it is known.

    The version of the network's compiler, which is that of ll_aton, and the table of pools are
    known (facts of Core 4.0's wrappers). The rest is that of `as_dict`.

    Args:
        model: the model.
        files: names and bytes of the files.
    """
    major, minor, patch, build = model.version
    pools = [
        {
            "name": pool.name,
            "flags_raw": f"0x{pool.flags:08x}",
            "flags_desc": pool.flags_text,
            "foff": pool.foff,
            "dst": f"0x{pool.destination:08x}",
            "size": pool.size,
        }
        for pool in model.pools
    ]
    return to_json(
        {
            "compiler": {"version": {"major": major, "minor": minor, "patch": patch, "build": build}},
            "reloc_binary_image": {**as_dict(model), "mempool_c_descriptors": pools},
            "files": [{"name": name, "bytes": size} for name, size in files],
        }
    )


def as_text(model: RelocFile) -> str:
    """Return versions, sizes, weights, pools and entry points as text."""
    lines = [
        f"name          {model.name}",
        f"runtime       ll_aton {version_text(model.version)}, ABI {model.abi.letter} (ST Edge AI Core {model.abi.core})",
        f"made by       {model.version_text}",
        f"for           {model.flags.text} (0x{model.header['flags']:08X})",
        f"file          {len(model.data):,} bytes: {model.read_only_bytes:,} code and constants, {model.image_bytes:,} data, "
        f"{len(model.relocations)} relocations, {len(model.got)} GOT words",
        f"weights       {_weights(model)}",
        f"activations   {model.context['activation_bytes']:,} bytes, external RAM {model.context['external_ram_bytes']:,} bytes",
        "",
    ]
    entries = [f"  0x{address:08X}  {name}" for name, address in model.entries.items()]
    return "\n".join(lines) + "\n" + summary(model) + "\nentry points\n" + "\n".join(entries) + "\n"


def _weights(model: RelocFile) -> str:
    crc = f"CRC 0x{model.context['params_file_crc32']:08X}"
    if model.is_split:
        return f"{model.params_bytes:,} bytes in a separate file"
    return f"{model.params_bytes:,} bytes at 0x{model.params_offset:X}, {crc}"


def differences(a: RelocFile, b: RelocFile) -> list[str]:
    """Return lines such as 'abi: C -> D', then the number of different bytes by part.

    The list is empty if the files are the same.
    """
    lines = list(_fields("", as_dict(a), as_dict(b)))
    parts = (
        ("code and constants", _part(a, 0, a.read_only_bytes), _part(b, 0, b.read_only_bytes)),
        ("data", _part(a, a.read_only_bytes, a.image_bytes), _part(b, b.read_only_bytes, b.image_bytes)),
        ("weights", _own_params(a), _own_params(b)),
    )
    for name, one, other in parts:
        if one != other:
            count = sum(x != y for x, y in zip(one, other, strict=False)) + abs(len(one) - len(other))
            lines.append(f"{name}: {count} of {max(len(one), len(other))} bytes differ")
    return lines


def _part(model: RelocFile, start: int, size: int) -> bytes:
    return model.data[start : start + size]


def _own_params(model: RelocFile) -> bytes:
    return b"" if model.is_split else model.data[model.params_offset :]


def _fields(prefix: str, a: object, b: object) -> Iterator[str]:
    """Yield the differences of nested dictionaries and lists."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in {**a, **b}:
            yield from _fields(f"{prefix}.{key}" if prefix else str(key), a.get(key), b.get(key))
    elif isinstance(a, list) and isinstance(b, list):
        for index in range(max(len(a), len(b))):
            one, other = (values[index] if index < len(values) else None for values in (a, b))
            yield from _fields(f"{prefix}[{index}]", one, other)
    elif a != b:
        yield f"{prefix}: {a} -> {b}"
