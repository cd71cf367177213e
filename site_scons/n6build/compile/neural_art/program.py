"""Epochs as words for the epoch controller, in the order of ST's compiler.

First come clocks and configuration, the stream switch, EN of writers, of units, of readers; then
polls until the writers are done. Then everything is cleared and its clock is closed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from n6build.compile.neural_art.hardware_epoch import READ_AHEAD, HardwareEpoch, Limit, Setting, Unit, Value
from n6build.compile.neural_art.registers import (
    GATES,
    destination_number,
    gate_bit,
    packed,
    register,
    source_number,
    unit_number,
)
from n6build.compile.reference.epochs import Address
from n6build.describe.formats.npu_blob import MAGIC
from n6build.describe.hardware.npu import Npu

_END = 12
_WHOLE = 31
# This number is in every blob of ST's compiler. It is not known whether it is an interval or a time-out.
INTERVAL = 100
_MOST_VALUES = 2047
_WORD = 0xFFFF_FFFF
# A blob is padded to this many words.
_PADDED_TO = 16


def blob(npu: Npu, epochs: Sequence[tuple[int, HardwareEpoch]], address_of: Callable[[Address], int]) -> list[int]:
    """Return the words of a blob: magic, number of words, instructions, zeros.

    Args:
        npu: Description of the NPU.
        epochs: Epochs with their numbers.
        address_of: Function from an address of the network to that in memory.
    """
    body = [word for number, epoch in epochs for word in _epoch(npu, number, epoch, address_of)]
    words = [MAGIC, len(body) + 1, *body, _END]
    return words + [0] * (-len(words) % _PADDED_TO)


def _epoch(npu: Npu, number: int, epoch: HardwareEpoch, address_of: Callable[[Address], int]) -> Iterator[int]:
    yield number << 5 | 29
    for unit in epoch.units:
        yield _clock(npu, unit, on=True)
        yield from _configured(npu, unit, address_of)
    yield from _switch(npu, epoch)
    order = _in_order(epoch.units)
    for unit in order:
        yield _bit(_number(npu, unit), 0, 0, 1)
    running = _lowest(packed(npu, "STRENG", "CTRL", RUNNING=1))
    for unit in order:
        if unit.writes:
            yield from _poll(_number(npu, unit), 0, running)
    for destination, _ in epoch.links:
        yield from _write(
            unit_number(npu, "STRSWITCH"), register(npu, "STRSWITCH", "DST") + destination_number(npu, destination), [0]
        )
    for unit in order:
        yield from _cleared(npu, _number(npu, unit), unit.reset)
        yield _clock(npu, unit, on=False)


def _in_order(units: Sequence[Unit]) -> list[Unit]:
    """Return writers, then units that compute, then readers.

    In this order, a unit is ready before the one that feeds it.
    """
    return sorted(units, key=lambda unit: 0 if unit.writes else 2 if unit.kind == "STRENG" else 1)


def _configured(npu: Npu, unit: Unit, address_of: Callable[[Address], int]) -> Iterator[int]:
    number = _number(npu, unit)
    if unit.reset:
        yield from _series(number, 0, [unit.reset, unit.control], step=0)
    else:
        yield from _write(number, 0, [unit.control])
    for setting in unit.settings:
        yield from _setting(number, setting, address_of)


def _setting(number: int, setting: Setting, address_of: Callable[[Address], int]) -> Iterator[int]:
    values = [_resolved(value, address_of) for value in setting.values]
    if setting.repeated:
        yield from _series(number, setting.register, values, step=0)
        return
    for first in range(0, len(values), _MOST_VALUES):
        yield from _write(number, setting.register + first, values[first : first + _MOST_VALUES])


def _resolved(value: Value, address_of: Callable[[Address], int]) -> int:
    match value:
        case Address():
            return address_of(value)
        case Limit(end):
            # The limit is the byte before the end, plus the bytes to read ahead. ST's compiler sets the lowest bits, too.
            return address_of(end) - 1 + READ_AHEAD | 7
    return value


def _switch(npu: Npu, epoch: HardwareEpoch) -> Iterator[int]:
    number = unit_number(npu, "STRSWITCH")
    yield from _cleared(npu, number, 0, kind="STRSWITCH")
    yield from _write(number, 0, [1])
    for destination, source in epoch.links:
        at = register(npu, "STRSWITCH", "DST") + destination_number(npu, destination)
        yield from _write(number, at, [1 | source_number(npu, source) << 1])


def _cleared(npu: Npu, number: int, reset: int, kind: str = "STRENG") -> Iterator[int]:
    """Yield the words that clear a unit.

    CLR and CONFCLR have the same bits in all units.
    """
    for field in ("CLR", "CONFCLR"):
        bit = packed(npu, kind, "CTRL", **{field: 1})
        yield from _write(number, 0, [reset | bit])
        yield from _poll(number, 0, _lowest(bit))


def _number(npu: Npu, unit: Unit) -> int:
    return unit_number(npu, unit.kind, unit.index)


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _clock(npu: Npu, unit: Unit, *, on: bool) -> int:
    gates = npu.gates["B"][GATES] // 4
    return _bit(unit_number(npu, "CLKCTRL"), gates, gate_bit(npu, unit.kind, unit.index), int(on))


# Instructions


def _bit(unit: int, at: int, low: int, value: int) -> int:
    return unit << 26 | at << 21 | value << 13 | low << 5 | 1


def _write(unit: int, at: int, values: Sequence[int]) -> list[int]:
    if len(values) == 1:
        return [unit << 26 | at << 16 | _WHOLE << 10, values[0] & _WORD]
    return _series(unit, at, values, step=1)


def _series(unit: int, at: int, values: Sequence[int], *, step: int) -> list[int]:
    return [unit << 26 | at << 16 | len(values) << 5 | (3 if step else 2), *(value & _WORD for value in values)]


def _poll(unit: int, at: int, bit: int) -> list[int]:
    return [unit << 26 | at << 16 | bit << 10 | bit << 5 | 4, INTERVAL, 0]
