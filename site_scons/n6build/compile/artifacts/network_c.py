"""network.c of any backend and of ST Edge AI Core from 2.0 on, read by patterns.

The file is generated line by line in one shape, so a C parser is not needed. Every search is linear in the length of the
file. c_info has the same and more; this is for facts found only here (version gate), and for networks without c_info."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.compile.artifacts.buffer_lives import CHANNEL_ORDERS, ChannelOrder, c_float, numpy_type, shape_in_memory
from n6build.compile.ll_aton import Version

MAX_BYTES = 64 << 20
# The NPU's memories and their unions are fewer than 20; every buffer is looked up in them.
MAX_POOLS = 256
# ST's runtime keeps the number in a signed 16-bit value.
_LARGEST_EPOCH = 0x7FFF
EpochKind = Literal["hw", "sw", "hybrid", "ec"]

# The pattern matches a definition, not a call or declaration in an application.
_SUFFIX = re.compile(r"\bLL_ATON_EpochBlockItems_(\w+)\s*\([^;{}()]*\)\s*\{")
# Blanks are bounded: unbounded on both sides of an optional parenthesis they would cost the square of their number.
_VERSION = re.compile(r"\bLL_ATON_VERSION_(MAJOR|MINOR|MICRO|DEV)\s{0,9}!=\s{0,9}\(?\s{0,9}(\d{1,9})\b")
_GATE = re.compile(r"^[ \t]*#[ \t]*(error|warning)\b", re.MULTILINE)
_DESCRIPTION = re.compile(r'\bGIT_DESCRIPTION "([^"\n]{0,200})"')
_ALL_BUFFERS = re.compile(r"^ \* --all-buffers-info = true$", re.MULTILINE)
_ECBLOBS = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(\w+_ecblobs\.h)"', re.MULTILINE)
_POOL_USE = re.compile(r"/\* global pool (\d{1,6}) is ([^*\n]{0,60})\*/")
# The number is rounded to its last digit, unless its unit is bytes.
_USED = re.compile(r"(\d{1,9})(?:\.(\d{1,3}))? (bytes|B|KB|MB|GB)", re.IGNORECASE)
_UNITS = {"bytes": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
_POOL = re.compile(
    r"/\* index=(\d{1,6}) file postfix=(\w*) name=(\w+) offset=0x([0-9a-fA-F]{1,99})\s{1,8}(absolute|relative)_mode "
    r"size=(\d{1,99}) (vpool )?READ_(ONLY|WRITE)\b[^*\n]{0,400}\*/"
)
_ARRAY = re.compile(r"\bstatic const (\w+) (\w+)\[\d*\] = \{([^{};]*)\}")
_FIELD = re.compile(r"\.(\w+)\s*=\s*(\{[^{}]*\}|[^,{}]*)")
_ADDRESS = re.compile(r"\b0x([0-9a-fA-F]{1,99})U?L?\b")
_SYMBOL = re.compile(r"\b_mem_pool_(\w+)")
_SCHEDULE = re.compile(r"/\* scheduling epoch=(\d{1,9})\b[^*\n]{0,200}\*/|/\* kind=(\w+) node=")
# Operators that run on the CPU or drive the NPU are in ST's library.
_LIBRARY_CALL = re.compile(r"\b(ll_sw_forward_\w+|LL_ATON_LIB_(?!UNUSED|VIRTUAL|PHYSICAL)\w+|LL_\w+_TensorInit)\s*\(")
_INTEGER = re.compile(r"[+-]?\d{1,20}")
_KINDS: dict[str, EpochKind] = {"blob": "ec", "pure_sw": "sw", "hybrid": "hybrid", "pure_hw": "hw"}


@dataclass(frozen=True)
class SourcePool:
    """A memory pool of the compiler; a virtual one is a view of several others.
    Buffers of a virtual pool also count for these adjacent pools. used_bytes: Largest number that a rounded comment may mean,
    0 if unused."""

    index: int
    fname: str
    name: str
    address: int
    relative: bool
    size: int
    is_virtual: bool
    rights: Literal["ACC_READ", "ACC_WRITE"]
    used_bytes: int


@dataclass(frozen=True)
class SourceBuffer:
    """A buffer with bytes [offset_start, offset_end) from its base.
    pool: Postfix of the concrete pool. base: Address of the pool, None for a relative pool or a buffer of the application.
    epoch: ST's number of the epoch that makes it; 0 for inputs and weights. shape, order: Shape and order of the channels in
    memory. scale, offset: Empty if the buffer is not quantised."""

    name: str
    pool: str | None
    base: int | None
    offset_start: int
    offset_end: int
    is_param: bool
    is_user_allocated: bool
    epoch: int
    type: str
    shape: tuple[int, ...]
    order: ChannelOrder
    scale: tuple[float, ...]
    offset: tuple[int, ...]


@dataclass(frozen=True)
class _Arrays:
    """Arrays in front of a table of buffers, by name: shapes and zero points; scales."""

    numbers: dict[str, tuple[int, ...]]
    floats: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class SourceEpoch:
    """An entry of the table of epoch blocks, which the runtime starts and ends as one.

    index, last: ST's number of its first and last epoch; they differ if a blob of the epoch controller holds several.
    operators: Kinds of their nodes, joined by blanks; empty if the code is in a blob."""

    index: int
    last: int
    kind: EpochKind
    operators: str


@dataclass(frozen=True)
class NetworkSource:
    """The content of network.c.
    suffix: Suffix of the symbols. ll_aton: Runtime that it asks for. gate: Reaction of a compiler to another runtime.
    library_call: A function of ST's library that it calls. epochs: Entries in the order of the table of epoch blocks.
    all_buffers: The network was compiled with the option that lists internal buffers."""

    suffix: str
    ll_aton: Version | None
    gate: Literal["error", "warning"] | None
    git_description: str
    ecblobs_header: str | None
    library_call: str | None
    pools: tuple[SourcePool, ...]
    inputs: tuple[SourceBuffer, ...]
    outputs: tuple[SourceBuffer, ...]
    params: tuple[SourceBuffer, ...]
    internals: tuple[SourceBuffer, ...]
    epochs: tuple[SourceEpoch, ...]
    all_buffers: bool

    @property
    def knows_all_buffers(self) -> bool:
        """Return whether its lists are complete: between two epochs there is a buffer."""
        return bool(self.internals) or (self.all_buffers and len(self.epochs) == 1)


def read_network_c(path: Path) -> NetworkSource:
    """Read network.c.

    Raises:
        N6Error: N6-FILE-002; N6-FILE-003 if the file is larger than 64 MiB; N6-NETC-00x.
    """
    return parse_network_c(read_at_most(path, MAX_BYTES).decode("utf-8", "replace"), path.name)


def parse_network_c(text: str, file: str) -> NetworkSource:
    """Parse a network.c; `file` is for messages.
    Raises N6-NETC-001 (not a network.c), N6-NETC-002 (a function or a number is incomplete)."""
    suffix = _SUFFIX.search(text)
    if not suffix:
        hint = (
            "compile the network for the NPU: ST Edge AI Core then defines LL_ATON_EpochBlockItems_<name>() in the file"
        )
        raise N6Error("N6-NETC-001", "is not the source of a compiled network", where=file, hint=hint)
    name = suffix[1]
    pools = tuple(_pools(text, file))
    if len(pools) > MAX_POOLS:
        raise N6Error("N6-NETC-002", f"lists {len(pools)} memory pools, more than {MAX_POOLS}", where=file)
    buffers = {kind: _buffers(text, kind, name, pools, file) for kind in ("Input", "Output", "Internal")}
    asked = _VERSION.search(text)
    gate = _GATE.search(text, asked.end()) if asked else None
    description = _DESCRIPTION.search(text)
    ecblobs, call = _ECBLOBS.search(text), _LIBRARY_CALL.search(text)
    return NetworkSource(
        suffix=name,
        ll_aton=_version(text),
        gate=None if gate is None else "error" if gate[1] == "error" else "warning",
        git_description=description[1] if description else "",
        ecblobs_header=ecblobs[1] if ecblobs else None,
        library_call=call[1] if call else None,
        pools=pools,
        inputs=tuple(buffer for buffer in buffers["Input"] if not buffer.is_param),
        outputs=tuple(buffers["Output"]),
        # Initializers are listed after the inputs.
        params=tuple(buffer for buffer in buffers["Input"] if buffer.is_param),
        internals=tuple(buffers["Internal"]),
        epochs=tuple(_epochs(text, name, file)),
        all_buffers=_ALL_BUFFERS.search(text) is not None,
    )


def _version(text: str) -> Version | None:
    found = {part: int(number) for part, number in _VERSION.findall(text)}
    if len(found) != 4:
        return None
    return (found["MAJOR"], found["MINOR"], found["MICRO"], found["DEV"])


def _pools(text: str, file: str) -> Iterator[SourcePool]:
    uses = {index: use.strip() for index, use in _POOL_USE.findall(text)}
    for match in _POOL.finditer(text):
        index, fname, name, address, mode, number, virtual, rights = match.groups()
        size = _integer(number, text, match.start(), file)
        yield SourcePool(
            index=int(index),
            fname=fname,
            name=name,
            address=_hexadecimal(address, text, match.start(), file),
            relative=mode == "relative",
            size=size,
            is_virtual=virtual is not None,
            rights="ACC_READ" if rights == "ONLY" else "ACC_WRITE",
            used_bytes=_used_bytes(uses.get(index, "?"), size),
        )


def _used_bytes(comment: str, size: int) -> int:
    """Return the largest number of bytes that a comment may mean, at most the size."""
    if comment == "?":
        return 0
    match = _USED.fullmatch(comment)
    if match is None:
        return size
    decimals, unit = match[2] or "", _UNITS[match[3].lower()]
    halves = 2 * int(match[1] + decimals) + (unit > 1)
    return min(-(-halves * unit // int(2 * 10 ** len(decimals))), size)


def _line(text: str, position: int, file: str) -> str:
    return f"{file}:{text.count(chr(10), 0, position) + 1}"


def _integer(number: str, text: str, position: int, file: str) -> int:
    value = int(number) if _INTEGER.fullmatch(number) else None
    if value is None or abs(value) >= 1 << 64:
        raise N6Error("N6-NETC-002", f"'{number[:40]}' is not a number", where=_line(text, position, file))
    return value


def _hexadecimal(digits: str, text: str, position: int, file: str) -> int:
    value = int(digits, 16)
    if value >= 1 << 64:
        raise N6Error(
            "N6-NETC-002", f"address 0x{digits[:40]} has more than 64 bits", where=_line(text, position, file)
        )
    return value


def _body(text: str, function: str, file: str) -> tuple[int, str]:
    """Return position and text of a function's body; empty if it is not defined."""
    for match in re.finditer(rf"\b{re.escape(function)}\s*\([^;{{}}()]*\)\s*\{{", text):
        end = text.find("\n}", match.end() - 1)
        if end < 0:
            what = f"function {function} has no end: the file is incomplete"
            raise N6Error("N6-NETC-002", what, where=_line(text, match.start(), file))
        return match.end(), text[match.end() : end]
    return 0, ""


def _without_comments(text: str) -> str:
    """Replace comments by blanks, so that positions stay."""
    parts = []
    position = 0
    while (start := text.find("/*", position)) >= 0:
        end = text.find("*/", start + 2)
        end = len(text) if end < 0 else end + 2
        parts += [text[position:start], " " * (end - start)]
        position = end
    return "".join([*parts, text[position:]])


def _buffers(text: str, kind: str, suffix: str, pools: tuple[SourcePool, ...], file: str) -> list[SourceBuffer]:
    start, commented = _body(text, f"LL_ATON_{kind}_Buffers_Info_{suffix}", file)
    body = _without_comments(commented)
    arrays = _arrays(body, text, start, file)
    return [
        _buffer(fields, arrays, pools, text, start + position, file)
        for position, fields in _entries(body, "name")
        if fields["name"] != "NULL"
    ]


def _arrays(body: str, text: str, start: int, file: str) -> _Arrays:
    """Return every array once, however many buffers share it; `start` is the body's."""
    numbers: dict[str, tuple[int, ...]] = {}
    floats: dict[str, tuple[float, ...]] = {}
    for match in _ARRAY.finditer(body):
        values = [value for part in match[3].split(",") if (value := part.strip())]
        if match[1] in {"float", "double"}:
            floats[match[2]] = tuple(c_float(value) for value in values)
        else:
            numbers[match[2]] = tuple(_integer(value, text, start + match.start(), file) for value in values)
    return _Arrays(numbers, floats)


def _entries(body: str, first: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield position and fields of every initialiser in a table.
    Each entry begins with the field `first`. The end mark of a table may lack it: of equal fields, the first are the entry's."""
    begins = [match.start() for match in re.finditer(rf"\.{first}\s*=", body)]
    for begin, end in itertools.pairwise([*begins, len(body)]):
        yield begin, {name: value.strip() for name, value in reversed(_FIELD.findall(body, begin, end))}


def _buffer(
    fields: dict[str, str],
    arrays: _Arrays,
    pools: tuple[SourcePool, ...],
    text: str,
    position: int,
    file: str,
) -> SourceBuffer:
    def number(name: str) -> int:
        return _integer(fields.get(name, "0"), text, position, file)

    def numbers(name: str) -> tuple[int, ...]:
        return arrays.numbers.get(fields.get(name, ""), ())

    name = fields["name"].strip('"')
    if number("offset_end") < number("offset_start"):
        raise N6Error("N6-NETC-002", f"buffer {name} ends before it begins", where=_line(text, position, file))
    own = number("is_user_allocated") != 0
    base, pool = None, None
    if not own:
        addr_base = fields.get("addr_base", "")
        symbol, address = _SYMBOL.search(addr_base), _ADDRESS.search(addr_base)
        if symbol:
            pool = _relative_pool(symbol[1], pools)
        elif address:
            base = _hexadecimal(address[1], text, position, file)
            pool = _pool_at(base + number("offset_start"), pools)
    order = CHANNEL_ORDERS.get(fields.get("chpos", ""), "unknown")
    return SourceBuffer(
        name=name,
        pool=pool,
        base=base,
        offset_start=number("offset_start"),
        offset_end=number("offset_end"),
        is_param=number("is_param") != 0,
        is_user_allocated=own,
        epoch=number("epoch"),
        type=numpy_type(fields.get("type", "")),
        shape=shape_in_memory(order, numbers("shape"), number("batch"), numbers("mem_shape")),
        order=order,
        scale=arrays.floats.get(fields.get("scale", ""), ()),
        offset=numbers("offset"),
    )


def _relative_pool(symbol: str, pools: tuple[SourcePool, ...]) -> str | None:
    """Return the postfix of a relative pool; `symbol` is the text behind _mem_pool_."""
    relative = (pool for pool in pools if pool.relative and symbol.startswith(f"{pool.fname}_"))
    return next((pool.fname for pool in relative), None)


def _pool_at(address: int, pools: tuple[SourcePool, ...]) -> str | None:
    """Return the concrete pool at an address, even if the base is a virtual pool's."""
    concrete = (pool for pool in pools if not pool.is_virtual and not pool.relative)
    return next((pool.fname for pool in concrete if pool.address <= address < pool.address + max(pool.size, 1)), None)


def _epochs(text: str, suffix: str, file: str) -> Iterator[SourceEpoch]:
    """Yield the epochs of the table, with operators from comments before their code."""
    operators: dict[int, dict[str, None]] = {}
    scheduled = 0
    for match in _SCHEDULE.finditer(text):
        if match[1]:
            scheduled = int(match[1])
        else:
            operators.setdefault(scheduled, {})[match[2]] = None
    start, commented = _body(text, f"LL_ATON_EpochBlockItems_{suffix}", file)
    body = _without_comments(commented)
    furthest = 0
    for number, (begin, fields) in enumerate(_entries(body, "start_epoch_block"), 1):
        flags = fields.get("flags", "")
        if "EpochBlock_Flags_last_eb" in flags:
            return
        # A block without such a flag only calls its functions.
        kinds: list[EpochKind] = [kind for flag, kind in _KINDS.items() if f"EpochBlock_Flags_{flag}" in flags]
        kind = kinds[0] if kinds else "sw"
        index = _epoch_number(fields.get("epoch_num", str(number)), text, start + begin, file)
        last = _epoch_number(fields.get("last_epoch_num", str(index)), text, start + begin, file)
        # No epoch is in two blobs; a file with overlaps would cost the square of its length.
        last = last if furthest < index < last else index
        furthest = max(furthest, last)
        inside = (operator for epoch in range(index, last + 1) for operator in operators.get(epoch, {}))
        yield SourceEpoch(index, last, kind, " ".join(dict.fromkeys(inside)))


def _epoch_number(number: str, text: str, position: int, file: str) -> int:
    value = _integer(number, text, position, file)
    if abs(value) > _LARGEST_EPOCH:
        what = f"epoch {number[:40]} is beyond {_LARGEST_EPOCH}"
        raise N6Error("N6-NETC-002", what, where=_line(text, position, file))
    return value
