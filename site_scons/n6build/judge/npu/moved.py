"""Data that the stream engines move in an epoch: elements, bytes, addresses.

They follow from the settings of the units.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from n6build.judge.npu.settings import EpochSettings, UnitSettings

_LANES = 3
# An engine with an address limit fetches no further than a cache line behind its data.
_AHEAD = 64
# No engine moves more in an epoch; a damaged file may have any number.
_MOST = 1 << 40


@dataclass(frozen=True)
class Moved:
    """The data that one stream engine moves.

    Attributes:
        engine: Name of the engine.
        writes: The engine writes to memory.
        address: Address of the first byte, None if it is only known when the firmware is linked.
        elements: Elements on the stream.
        bytes: Bytes of memory, counted each time that they are read or written.
        distinct: Bytes of memory that it touches at least once; fewer than `bytes` if the NPU's
            cache may answer.
        base: Name of the buffer or pool in which the address is an offset until a loader adds its
            begin; empty if the address is complete.
    """

    engine: str
    writes: bool
    address: int | None
    elements: int
    bytes: int
    distinct: int
    base: str = ""


@dataclass(frozen=True)
class Moves:
    """The data that an epoch moves.

    Attributes:
        number: ST's number of the epoch.
        widest: Elements on its widest stream, also between units, where a convolution makes more
            than is written.
        engines: Data of each engine.
    """

    number: int
    widest: int
    engines: tuple[Moved, ...]


def bytes_moved(epochs: Iterable[EpochSettings]) -> int:
    """Return the bytes of all engines, counted each time they are read or written."""
    return sum(moved.bytes for epoch in epochs for moved in moves_of(epoch).engines)


def moves_of(epoch: EpochSettings) -> Moves:
    """Return the data that an epoch moves.

    An engine with an unknown shape moves nothing.
    """
    engines = [(unit, _moved(unit)) for unit in epoch.units if unit.kind == "STRENG"]
    made = [_made(unit, engines) for unit in epoch.units if unit.kind == "CONVACC"]
    widest = max([*(moved.elements for _, moved in engines), *made], default=0)
    return Moves(epoch.number, widest, tuple(moved for _, moved in engines))


def span_of(unit: UnitSettings) -> tuple[int, int]:
    """Return the addresses of the first byte and behind the last, over all gaps."""
    fields = unit.fields
    first = fields.get(("ADDR", "REG"), 0)
    lanes = sum(fields.get(("CTRL", f"SIZE{lane}"), 0) > 0 for lane in range(_LANES))
    width, height = fields.get(("FSIZE", "WIDTH"), 0), fields.get(("FSIZE", "HEIGHT"), 0)
    frame = _frame_elements(unit) * lanes
    if not fields.get(("CTRL", "RAW")):
        frame = max(1, fields.get(("DEPTH", "SIZE"), 1)) * lanes
        frame += max(0, width - 1) * fields.get(("DEPTH", "OFFSET"), 0)
        frame += max(0, height - 1) * fields.get(("STRD", "LOFF"), 0)
    last, offset = _frames(unit) - 1, fields.get(("FOFFSET", "REG"), 0)
    repeats = fields.get(("FRAME_RPT", "REG"), 0)
    ahead = last * offset
    if repeats:
        ahead = min(last, repeats - 1) * offset + last // repeats * fields.get(("FRPTOFF", "REG"), 0)
    return first, first + min(ahead + frame, _MOST)


def _moved(unit: UnitSettings) -> Moved:
    fields = unit.fields
    frames = _frames(unit)
    lanes = sum(fields.get(("CTRL", f"SIZE{lane}"), 0) > 0 for lane in range(_LANES))
    elements = min(_frame_elements(unit) * frames, _MOST)
    address = fields.get(("ADDR", "REG"))
    moved = distinct = elements * lanes
    if fields.get(("CID_CACHE", "CACHEABLE")) and fields.get(("LIMITEN", "ADDRLIMIT")) and address is not None:
        span = fields.get(("LIMITADDR", "REG"), 0) + 1 - _AHEAD - address
        distinct = min(moved, max(span, _frame_elements(unit) * lanes))
    base = unit.bases.get("ADDR", "")
    return Moved(
        unit.name, bool(fields.get(("CTRL", "DIR"))), None if base else address, elements, moved, distinct, base
    )


def _frames(unit: UnitSettings) -> int:
    return max(1, unit.fields.get(("LIMIT", "CNT"), 1)) if unit.fields.get(("LIMITEN", "FRAMELIMIT")) else 1


def _frame_elements(unit: UnitSettings) -> int:
    """Return a frame's elements; a frame without shape is a 32-bit number of them."""
    fields = unit.fields
    width, height = fields.get(("FSIZE", "WIDTH"), 0), fields.get(("FSIZE", "HEIGHT"), 0)
    if fields.get(("CTRL", "RAW")):
        return width | height << 16
    return width * height * max(1, fields.get(("DEPTH", "SIZE"), 1))


def _made(unit: UnitSettings, engines: list[tuple[UnitSettings, Moved]]) -> int:
    """Return the elements that a convolution unit makes.

    They count for each frame that is as large as the unit expects.
    """
    fields = unit.fields
    depth = max(1, fields.get(("KFORMAT", "BTCDEPTH"), 1))
    width, height = fields.get(("FFORMAT", "WIDTH"), 0), fields.get(("FFORMAT", "HEIGHT"), 0)
    frames = [
        _frames(engine)
        for engine, moved in engines
        if not moved.writes
        and not engine.fields.get(("CTRL", "CONT"))
        and moved.bytes >= width * height * _frames(engine)
    ]
    if not frames or not width:
        return 0
    across = max(1, width // depth // max(1, fields.get(("SAMPLE", "HSTRD"), 1)))
    down = max(1, height // max(1, fields.get(("SAMPLE", "VSTRD"), 1)))
    return min(across * down * fields.get(("KFORMAT", "NR"), 0) * max(frames), _MOST)
