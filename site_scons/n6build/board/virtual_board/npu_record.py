"""The emulator's record of the virtual NPU, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from n6build.base.bounded import parse_json
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most

# An epoch takes two kilobytes, and the largest networks have a few hundred in each inference.
MAX_BYTES = 256 << 20
# Units of the NPU that move or compute data.
_MOST_UNITS = 26
_MOST_COUNT = 1 << 64
# Channels of a unit, and those that are kept although they lost nothing.
_MOST_CHANNELS = 1024
# Bytes of a unit's output.
_FORMATS = (1, 2, 3)
_KEPT = 8


@dataclass(frozen=True)
class SaturatedChannel:
    """Values of a channel that the format of a unit's output did not hold.

    Attributes:
        channel: Number of the kernel or of the coefficient; 0 for a unit without them.
        below: Values below the format's lowest.
        above: Values above the format's highest.
        lost: Values of these that the epoch's output of one byte shows.
        open: Values of these that leave the epoch in more bytes: a later epoch makes the output.
        lowest: The lowest of them, 0 for none below.
        highest: The highest of them, 0 for none above.
    """

    channel: int
    below: int
    above: int
    lost: int
    open: int
    lowest: int
    highest: int


@dataclass(frozen=True)
class Saturation:
    """Values of a unit that the format of its output did not hold.

    A format of one byte is the quantisation of a tensor: the reference interpreter ends at the same
    values, and nothing is lost. Wider formats are the NPU's own. A value that saturates there is lost
    unless the epoch's output of one byte is at an end of its format, too.

    Attributes:
        bytes: Bytes of the format.
        below: Values of all channels below the format's lowest.
        above: Values of all channels above the format's highest.
        lost: Values of these that the epoch's output of one byte shows.
        open: Values of these that leave the epoch in more bytes.
        count: Number of channels with such values.
        channels: The channels that lost values, then those with the most others, up to a few.
    """

    bytes: int
    below: int
    above: int
    lost: int
    open: int
    count: int
    channels: tuple[SaturatedChannel, ...]

    @property
    def limits(self) -> tuple[int, int]:
        """Return the lowest and the highest value of the format."""
        half = 1 << (8 * self.bytes - 1)
        return -half, half - 1


@dataclass(frozen=True)
class UnitWork:
    """Work of a unit in an epoch.

    Attributes:
        unit: Name of the unit.
        what: Setting of the unit.
        macs: Products, including those of zeros that the compiler put into kernels.
        elements: Elements that the unit made, or an engine moved.
        reads: Bytes read from memory.
        writes: Bytes written to memory.
        first: First address that an engine touched; 0 with end 0 for no address.
        end: Address after the last one that an engine touched.
        saturation: Values that its format did not hold; None if it held all.
    """

    unit: str
    what: str = ""
    macs: int = 0
    elements: int = 0
    reads: int = 0
    writes: int = 0
    first: int = 0
    end: int = 0
    saturation: Saturation | None = None


@dataclass(frozen=True)
class NpuEpoch:
    """An epoch that the NPU computed.

    Attributes:
        network: Network of the epoch block that the program marked last; None if it marks none.
        place: Place of that epoch block in its table; None if the program marks none.
        label: Label in the blob; 0 without one.
        by_blob: True if the epoch controller ran it.
        instructions: Instructions of the CPU before the epoch was computed; the computation takes the
            CPU no time.
        units: Active units.
    """

    network: int | None
    place: int | None
    label: int
    by_blob: bool
    instructions: int
    units: tuple[UnitWork, ...]


def read_npu_record(path: Path) -> tuple[NpuEpoch, ...]:
    """Read the epochs of a record, in the order of their computation.

    Raises:
        N6Error: N6-VB-009 if the file is no such record; N6-FILE-002; N6-FILE-003 if it is larger than
            256 MiB.
    """
    return tuple(epochs_in(read_at_most(path, MAX_BYTES).split(b"\n"), path.name))


def epochs_in(lines: Iterable[bytes], file: str) -> Iterator[NpuEpoch]:
    """Yield the epochs lazily, for callers that need only the first ones.

    Args:
        lines: Lines of a record.
        file: Name of the file, for messages.

    Raises:
        N6Error: N6-VB-009.
    """
    return (_epoch(line, f"{file}:{number}") for number, line in enumerate(lines, 1) if line)


def _epoch(line: bytes, where: str) -> NpuEpoch:
    try:
        values: Any = parse_json(line)
    except ValueError as error:
        raise _no_record("is not a line of JSON", where) from error
    found = _Object(values, where)
    units = found.values.get("units")
    if not isinstance(units, list) or len(units) > _MOST_UNITS:
        found.refuse("units")
    return NpuEpoch(
        network=found.count_or_none("network"),
        place=found.count_or_none("place"),
        label=found.count("label"),
        by_blob=found.choice("by", {"blob": True, "registers": False}),
        instructions=found.count("instructions"),
        units=tuple(_unit(_Object(unit, where)) for unit in units),
    )


def _unit(found: _Object) -> UnitWork:
    return UnitWork(
        unit=found.text("unit"),
        what=found.text("what"),
        macs=found.count("macs", 0),
        elements=found.count("elements", 0),
        reads=found.count("reads", 0),
        writes=found.count("writes", 0),
        first=found.address("first"),
        end=found.address("end"),
        saturation=_saturation(found),
    )


def _saturation(found: _Object) -> Saturation | None:
    """Return the saturation of a unit, from lists of seven numbers for each channel."""
    rows = found.values.get("saturated", [])
    if not isinstance(rows, list) or len(rows) > _MOST_CHANNELS:
        found.refuse("saturated")
    if not rows:
        return None
    channels = []
    for row in rows:
        if (
            not isinstance(row, list)
            or len(row) != len(fields(SaturatedChannel))
            or not all(type(each) is int for each in row)
        ):
            found.refuse("saturated")
        channels.append(SaturatedChannel(*row))
    below, above = sum(each.below for each in channels), sum(each.above for each in channels)
    lost, open_ = sum(each.lost for each in channels), sum(each.open for each in channels)
    ordered = sorted(channels, key=lambda each: (-each.lost, -each.open, -each.below - each.above))
    kept = [each for place, each in enumerate(ordered) if each.lost or place < _KEPT]
    bytes_ = found.count("out_bytes")
    if bytes_ not in _FORMATS:
        found.refuse("out_bytes")
    return Saturation(bytes_, below, above, lost, open_, len(channels), tuple(kept))


class _Object:
    """A JSON object of a line, read key by key."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise _no_record("has another value instead of an object", where)
        self.values: Mapping[str, object] = value
        self._where = where

    def refuse(self, key: str) -> NoReturn:
        raise _no_record(f"has no valid value of '{key}'", self._where)

    def count(self, key: str, default: int | None = None) -> int:
        value = self.values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _MOST_COUNT:
            self.refuse(key)
        return value

    def count_or_none(self, key: str) -> int | None:
        return self.count(key) if self.values.get(key, 0) is not None else None

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str):
            self.refuse(key)
        return value

    def address(self, key: str) -> int:
        value = self.values.get(key, "0x0")
        if not isinstance(value, str) or len(value) > len("0x00000000") or not value.startswith("0x"):
            self.refuse(key)
        try:
            return int(value[2:], 16) if value[2:].isalnum() else self.refuse(key)
        except ValueError:
            self.refuse(key)

    def choice(self, key: str, values: Mapping[str, bool]) -> bool:
        value = self.values.get(key)
        if not isinstance(value, str) or value not in values:
            self.refuse(key)
        return values[value]


def _no_record(what: str, where: str) -> N6Error:
    return N6Error("N6-VB-009", what, where=where, hint="run it again on the virtual board: it writes this record")
