"""Instructions of the epoch controller, decoded, and as text to compare two blobs.

The instruction set was recovered from real blobs, all of which decode without remainder; opcodes
that none of them has are an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from n6build.base.errors import N6Error
from n6build.judge.npu.blobs import END, Blob
from n6build.judge.npu.names import Names

_WRITE_FIELD, _WRITE_BITS, _WRITE_ONE, _WRITE_MANY, _POLL, _LABEL = 0, 1, 2, 3, 4, 29
_LAST_BIT = 31
# A register's name has this number of columns, a line of a table this number of words.
_NAME, _WORDS = 20, 8


@dataclass(frozen=True)
class _OfUnit:
    """An instruction for a unit.

    Attributes:
        at: Index of the instruction in words.
        unit: Number of the unit.
        offset: Offset of the register in the unit, of the first one in a series.
    """

    at: int
    unit: int
    offset: int


@dataclass(frozen=True)
class _Bits(_OfUnit):
    """An instruction for bits of a register.

    Attributes:
        low: Lowest bit.
        high: Highest bit.
    """

    low: int
    high: int


@dataclass(frozen=True)
class Write(_Bits):
    """A write to bits `low` to `high` of a register; the others stay.

    Attributes:
        value: New value of the bits.
        immediate: The value is part of the instruction.
    """

    value: int
    immediate: bool


@dataclass(frozen=True)
class WriteSeries(_OfUnit):
    """Writes of whole registers, one after the other.

    Attributes:
        step: Bytes from one register to the next; 0 writes all values to the same one.
        values: Values in their order.
    """

    step: int
    values: tuple[int, ...]


@dataclass(frozen=True)
class Poll(_Bits):
    """A wait until bits of a register have a value.

    Attributes:
        interval: Word before the value; a time-out or a repetition rate (which of them is unknown).
        value: Awaited value.
    """

    interval: int
    value: int


@dataclass(frozen=True)
class Label:
    """The number of the epoch that follows, as in network.c."""

    at: int
    number: int


@dataclass(frozen=True)
class End:
    """The end, at which the controller stops."""

    at: int


Instruction = Write | WriteSeries | Poll | Label | End


def instructions(blob: Blob) -> Iterator[Instruction]:
    """Yield the instructions of a blob, with `at` in words from the first one.

    Raises:
        N6Error: N6-NPU-003 for an unknown instruction, one that is cut off, or one behind the end;
            a blob without an end is cut off. Also for an instruction that the container relocates
            or patches: only its values can be.
    """
    words = blob.words
    changed = blob.container.notes if blob.container else {}
    at = 0
    while at < len(words):
        instruction, size = _decode(blob, at)
        if at in changed:
            raise _error(blob, at, f"the container changes an instruction and not a value ({changed[at]})")
        yield instruction
        at += size
        if isinstance(instruction, End):
            if at < len(words):
                raise _error(blob, at, f"the blob ends here, but announces {len(words) - at} words more")
            return
    raise _error(blob, at, "the blob has no end")


def _decode(blob: Blob, at: int) -> tuple[Instruction, int]:
    """Return the instruction and the number of its words."""
    word = blob.words[at]
    opcode, low, high = word & 31, word >> 5 & 31, word >> 10 & 31
    unit, offset, count = word >> 26, 4 * (word >> 16 & 0x3FF), word >> 5 & 0x7FF
    if opcode == END:
        return End(at), 1
    if opcode == _LABEL:
        return Label(at, word >> 5), 1
    if opcode == _WRITE_BITS:
        high = low + (word >> 10 & 7)
        offset = 4 * (word >> 21 & 31)
        return Write(at, unit, offset, low, min(high, _LAST_BIT), word >> 13 & 0xFF, immediate=True), 1
    if opcode in (_WRITE_ONE, _WRITE_MANY):
        step = 4 if opcode == _WRITE_MANY else 0
        return WriteSeries(at, unit, offset, step, tuple(_arguments(blob, at, count))), 1 + count
    if opcode not in (_WRITE_FIELD, _POLL):
        raise _error(blob, at, f"0x{word:08X} has opcode {opcode}, which is unknown")
    if high < low:
        raise _error(blob, at, f"0x{word:08X} is for bits {low} to {high}")
    if opcode == _WRITE_FIELD:
        (value,) = _arguments(blob, at, 1)
        return Write(at, unit, offset, low, high, value, immediate=False), 2
    interval, value = _arguments(blob, at, 2)
    return Poll(at, unit, offset, low, high, interval, value), 3


def _arguments(blob: Blob, at: int, count: int) -> Sequence[int]:
    found = blob.words[at + 1 : at + 1 + count]
    if len(found) < count:
        missing = count - len(found)
        raise _error(blob, at, f"{missing} of the {count} words of the instruction are missing: the blob is cut off")
    return found


def _error(blob: Blob, at: int, what: str) -> N6Error:
    hint = "compile the network again; if the error persists, its compiler is newer than this n6build"
    return N6Error("N6-NPU-003", what, where=f"{blob.where}, word {blob.at + at}", hint=hint)


def instruction_lines(
    instruction: Instruction, names: Names, notes: Mapping[int, str] = MappingProxyType({})
) -> Iterator[str]:
    """Yield an instruction as text, a line for each register.

    Facts without an effect, such as its place, are left out.

    Args:
        instruction: The instruction.
        names: Names of units and registers.
        notes: Changes of the blob's loader, by the index of the word.
    """
    match instruction:
        case Label(number=number):
            yield f"label {number}"
        case End():
            yield "end"
        case Poll(unit=unit, offset=offset, low=low, high=high, interval=interval, value=value):
            register = names.register_name(unit, offset) + _bits(low, high)
            field = names.fields(unit, offset, _placed(low, high, -1))
            line = f"  poll {register} until {value}, interval {interval}  {field.replace('=1', '')}".rstrip()
            yield _noted(line, instruction, (1, 2), notes)
        case Write(unit=unit, offset=offset, low=low, high=high, value=value):
            yield _noted(write_line(names, unit, offset, value, low, high), instruction, (1,), notes)
        case WriteSeries():
            yield from _series(instruction, names, notes)


def _noted(line: str, instruction: Instruction, words: Iterable[int], notes: Mapping[int, str]) -> str:
    """Return a line with the changes of an instruction's words."""
    changes = [notes[instruction.at + word] for word in words if instruction.at + word in notes] if notes else []
    return "  ".join((line, *dict.fromkeys(changes)))


def write_line(names: Names, unit: int, offset: int, value: int, low: int = 0, high: int = _LAST_BIT) -> str:
    """Return the text of a write to a register, or to some of its bits."""
    register = names.register_name(unit, offset)
    if (low, high) == (0, _LAST_BIT):
        return f"  {register:<{_NAME}} = 0x{value:08X}  {names.fields(unit, offset, value)}".rstrip()
    fields = names.fields(unit, offset, _placed(low, high, value))
    return f"  {register + _bits(low, high):<{_NAME}} = {value}  {fields}".rstrip()


def _placed(low: int, high: int, value: int) -> int:
    return (value & ((1 << (high - low + 1)) - 1)) << low


def _bits(low: int, high: int) -> str:
    return f"[{low}]" if low == high else f"[{high}:{low}]"


def _series(series: WriteSeries, names: Names, notes: Mapping[int, str]) -> Iterator[str]:
    """Yield a series as text: tables eight words a line, other registers one by one."""
    found = names.register(series.unit, series.offset)
    if found and not found.register.fields and found.register.count > 1 and series.step:
        for first in range(0, len(series.values), _WORDS):
            values = " ".join(f"{value:08X}" for value in series.values[first : first + _WORDS])
            line = f"  {names.register_name(series.unit, series.offset + 4 * first):<{_NAME}} = {values}"
            yield _noted(line, series, range(1 + first, 1 + first + _WORDS), notes)
        return
    for number, value in enumerate(series.values):
        line = write_line(names, series.unit, series.offset + number * series.step, value)
        yield _noted(line, series, (1 + number,), notes)


def blob_lines(blob: Blob, names: Names) -> Iterator[str]:
    """Yield a blob as text.

    Raises:
        N6Error: As `instructions`, behind the lines that could be decoded.
    """
    kind = "relocatable blob" if blob.relocatable else "blob"
    yield f"{kind} {blob.name}, {len(blob.words)} words"
    notes = blob.container.notes if blob.container else {}
    for instruction in instructions(blob):
        yield from instruction_lines(instruction, names, notes)
