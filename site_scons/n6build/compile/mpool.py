"""Memory pool descriptors (.mpool) of ST's network compiler.

They are read strictly, written, and kept as YAML without loss. The schema is that of ST's
documentation of the Neural-ART compiler; unknown keys are kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from typing import Any, Literal, cast

from n6build.base.errors import N6Error, did_you_mean
from n6build.compile.lossless import Number, parse_strict, strict_text
from n6build.compile.memory_pools import MemoryPool
from n6build.describe.hardware.soc import Level

_MAGNITUDES = {"BYTES": 1, "KBYTES": 1 << 10, "MBYTES": 1 << 20}
_RIGHTS = ("ACC_READ", "ACC_WRITE")
_MODES = ("USEMODE_ABSOLUTE", "USEMODE_RELATIVE")
_LEVELS = ("LOW", "MID", "HIGH")
_INTERNAL = range(0x2000_0000, 0x4000_0000)
# These are a parameter that every descriptor of ST's tool carries, and the NPU's cache, 256 KB in 8 ways.
_PARAMETERS = [{"paramname": "max_onchip_sram_size", "value": "1024", "magnitude": "KBYTES"}]
_CACHE = {
    "nlines": Number("512"),
    "linesize": Number("64"),
    "associativity": Number("8"),
    "bypass_enable": Number("1"),
    "prop": {
        "rights": "ACC_WRITE",
        "throughput": "MID",
        "latency": "MID",
        "byteWidth": Number("8"),
        "freqRatio": Number("2.50"),
        "read_power": Number("13.584"),
        "write_power": Number("12.645"),
    },
}


def parse_mpool(data: bytes, file: str) -> dict[str, object]:
    """Parse a descriptor.

    Args:
        data: Content of the file.
        file: Name of the file, for messages.

    Raises:
        N6Error: N6-MPOOL-001 (not strict JSON); N6-MPOOL-002 (a value is missing or invalid).
    """
    document = parse_strict(data, file, "N6-MPOOL-001")
    pools_of_document(document, file)
    return cast("dict[str, object]", document)


def pools_of_document(document: object, file: str) -> tuple[MemoryPool, ...]:
    """Return the pools of a descriptor, those of size 0 included.

    Args:
        document: The descriptor.
        file: Name of the file, for messages.

    Raises:
        N6Error: N6-MPOOL-002 with the path of the key.
    """
    entries = _at(_at(document, "memory", "", file), "mempools", "memory", file)
    if not isinstance(entries, list):
        raise _wrong("is not a list", "memory.mempools", file)
    pools = tuple(_pool(entry, f"memory.mempools[{number}]", file) for number, entry in enumerate(entries))
    for number, pool in enumerate(pools):
        where = f"memory.mempools[{number}]"
        if any(pool.name == other.name or pool.fname == other.fname for other in pools[:number]):
            raise _wrong(f"pool {pool.name} ({pool.fname}) appears twice", where, file)
        relative = [other for other in pools[: number + 1] if other.mode == "USEMODE_RELATIVE"]
        if pool.mode == "USEMODE_RELATIVE" and pool.address in _INTERNAL:
            raise _wrong(f"pool {pool.name} is inside the chip and cannot be relative", f"{where}.mode", file)
        if pool.mode == "USEMODE_RELATIVE" and [other.rights for other in relative].count(pool.rights) > 1:
            raise _wrong(f"pool {pool.name} is the second relative pool of {pool.rights}", f"{where}.mode", file)
    return pools


def _wrong(what: str, key: str, file: str, hint: str | None = None) -> N6Error:
    return N6Error("N6-MPOOL-002", what, where=f"{file}: {key}", hint=hint)


def _at(value: Any, key: str, path: str, file: str) -> Any:
    if not isinstance(value, dict) or key not in value:
        raise _wrong(f"key '{key}' is missing", path or key, file)
    return value[key]


def _choice(value: Any, choices: Sequence[str], path: str, file: str) -> str:
    if value not in choices:
        shown = str(value)[:40]
        raise _wrong(f"'{shown}' is not a valid value", path, file, did_you_mean(shown, choices))
    return str(value)


def _quantity(entry: Any, key: str, path: str, file: str) -> int:
    """Return {"value": "0x34200000", "magnitude": "BYTES"} in bytes; below 4 GiB."""
    path = f"{path}.{key}"
    quantity = _at(entry, key, path, file)
    value = _at(quantity, "value", path, file)
    magnitude = _MAGNITUDES[_choice(_at(quantity, "magnitude", path, file), list(_MAGNITUDES), path, file)]
    text = value if type(value) is str else ""
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}|\d{1,20}", text, re.ASCII):
        raise _wrong(
            f"'{str(value)[:40]}' is not a number", f"{path}.value", file, 'write it as text: "448" or "0x342E0000"'
        )
    number = int(text, 16 if text[:2].lower() == "0x" else 10) * magnitude
    if number >= 1 << 32:
        raise _wrong(f"{number} is beyond 32 bits", f"{path}.value", file)
    return number


def _number(prop: Any, key: str, default: str, path: str, file: str) -> float:
    value = prop.get(key, Number(default))
    if not isinstance(value, Number) or len(value) > 40 or not isfinite(float(value)):
        raise _wrong(f"'{str(value)[:40]}' is not a number", f"{path}.{key}", file)
    return float(value)


def _pool(entry: Any, path: str, file: str) -> MemoryPool:
    prop = _at(entry, "prop", path, file)
    fname, name = (_at(entry, key, path, file) for key in ("fname", "name"))
    for text in (fname, name):
        if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z_]\w{0,60}", text, re.ASCII):
            raise _wrong(
                f"'{str(text)[:40]}' is not a valid name for a memory pool", path, file, "letters, digits and _ only"
            )
    rights = _choice(_at(prop, "rights", f"{path}.prop", file), _RIGHTS, f"{path}.prop.rights", file)
    mode = _choice(entry.get("mode", "USEMODE_ABSOLUTE"), _MODES, f"{path}.mode", file)
    levels = [_choice(prop.get(key, "MID"), _LEVELS, f"{path}.prop.{key}", file) for key in ("throughput", "latency")]
    numbers = [
        _number(prop, key, default, f"{path}.prop", file)
        for key, default in (("byteWidth", "8"), ("freqRatio", "1"), ("read_power", "0"), ("write_power", "0"))
    ]
    return MemoryPool(
        name=name,
        fname=fname,
        address=_quantity(entry, "offset", path, file),
        size=_quantity(entry, "size", path, file),
        rights=cast("Literal['ACC_WRITE', 'ACC_READ']", rights),
        mode=cast("Literal['USEMODE_ABSOLUTE', 'USEMODE_RELATIVE']", mode),
        cacheable=prop.get("cacheable") == "CACHEABLE_ON",
        use_for_initializers=prop.get("constants_preferred") == "true",
        throughput=cast("Level", levels[0]),
        latency=cast("Level", levels[1]),
        byte_width=int(numbers[0]),
        freq_ratio=numbers[1],
        read_power=numbers[2],
        write_power=numbers[3],
    )


def mpool_text(pools: Sequence[MemoryPool]) -> str:
    """Return the descriptor of these pools, with bases and sizes in bytes.

    The order of the pools is that of preference.
    """
    document = {
        "params": {"param": _PARAMETERS},
        "memory": {"cacheinfo": [_CACHE], "mem_file_prefix": "atonbuf", "mempools": [_entry(pool) for pool in pools]},
    }
    return strict_text(document) + "\n"


def _entry(pool: MemoryPool) -> dict[str, Any]:
    prop: dict[str, Any] = {
        "rights": pool.rights,
        "throughput": pool.throughput,
        "latency": pool.latency,
        "byteWidth": Number(pool.byte_width),
        "freqRatio": Number(pool.freq_ratio),
    }
    if pool.cacheable:
        prop["cacheable"] = "CACHEABLE_ON"
    prop |= {"read_power": Number(pool.read_power), "write_power": Number(pool.write_power)}
    if pool.use_for_initializers:
        prop["constants_preferred"] = "true"
    entry = {
        "fname": pool.fname,
        "name": pool.name,
        "fformat": "FORMAT_RAW",
        "prop": prop,
        "offset": {"value": f"0x{pool.address:08X}", "magnitude": "BYTES"},
        "size": {"value": str(pool.size), "magnitude": "BYTES"},
    }
    return entry if pool.mode == "USEMODE_ABSOLUTE" else {**entry, "mode": pool.mode}
