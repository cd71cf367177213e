"""Parser of memory dumps in a console log: lines of a dump, and their values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from n6build.base.errors import N6Error
from n6build.judge.compare.dump_line import DumpLine, printable, read_line

# A larger log has more than tensors.
MAX_TEXT_BYTES = 64 << 20
_MOST_VALUES = 1 << 21
# Times and task numbers change from line to line.
_CHANGING = re.compile(r"\[[^\]]*\]|\([^)]*\)|\d+[:.,][\d:.,]+")
_REPEATED_LINE = "*"
_END = re.compile(r"[0-9A-Fa-f]{4,16}")
# After more missing lines, another dump begins.
_MOST_MISSING_LINES = 64


@dataclass(frozen=True)
class Dump:
    """A dump of a text.

    Attributes:
        first_line: Number of its first line, from 1.
        last_line: Number of its last line.
        label: Text in front of the values, or on the line above.
        data: The bytes, in the order of memory; empty for decimal numbers.
        numbers: Decimal numbers.
        is_whole: True if all decimal numbers are whole ones.
        missing: Missing lines in words, empty if there are none.
    """

    first_line: int
    last_line: int
    label: str
    data: bytes = b""
    numbers: tuple[float, ...] = ()
    is_whole: bool = False
    missing: str = ""


@dataclass
class _Open:
    """The lines of a dump that may continue.

    Attributes:
        label: Text in front of the values, or on the line above.
        numbers: Numbers of the lines.
        lines: The lines.
        bases: Bases that its addresses may still have.
        gaps: Places of lines before which the address jumps.
        repeats: Places of lines before which a star replaces equal lines.
    """

    label: str
    numbers: list[int]
    lines: list[DumpLine]
    bases: tuple[int, ...]
    gaps: list[int] = field(default_factory=list)
    repeats: set[int] = field(default_factory=set)


def read_dumps(text: str, name: str) -> list[Dump]:
    """Return all dumps of a text in their order.

    Args:
        text: Text of a console log, a debugger, or a C file.
        name: Name of the file, for messages.

    Raises:
        N6Error: N6-CAPTURE-002 for too many values.
    """
    found: list[Dump] = []
    current: _Open | None = None
    above = ""
    values = 0
    for number, line in enumerate(text.splitlines(), 1):
        if current and line.strip() == _REPEATED_LINE:
            current.repeats.add(len(current.lines))
            continue
        if current and _ends(current, line):
            continue
        parsed = read_line(line)
        values += len(parsed.tokens) if parsed else 0
        if values > _MOST_VALUES:
            raise N6Error("N6-CAPTURE-002", f"has more than {_MOST_VALUES:,} values", where=f"{name}:{number}")
        if current and (next_line := _next(current, parsed, line)):
            current.numbers.append(number)
            current.lines.append(next_line)
            continue
        is_dump = parsed is not None and parsed.is_sure
        # Other tasks print between the lines of a dump with addresses.
        if current and (is_dump or not current.lines[-1].address):
            found.append(_closed(current, name))
            current = None
        if parsed and is_dump:
            current = _Open(parsed.label or above, [number], [parsed], parsed.bases)
        elif line.strip():
            above = line.strip()
    if current:
        found.append(_closed(current, name))
    return found


def _next(current: _Open, parsed: DumpLine | None, line: str) -> DumpLine | None:
    """Return the next line of a dump, or None.

    The parsed line may have decimal numbers of two digits that look like bytes.
    """
    if current.lines[-1].kind == "numbers" and parsed and parsed.kind != "numbers":
        numbers = read_line(line, only_numbers=True)
        if numbers and (found := _continued(current, numbers)):
            return found
    return _continued(current, parsed) if parsed else None


def _ends(current: _Open, line: str) -> bool:
    """Return true if the line is the end address with which hexdump ends."""
    last = current.lines[-1]
    if not last.address or len(line.strip()) != len(last.address) or not _END.fullmatch(line.strip()):
        return False
    end = replace(last, tokens=(), address=line.strip(), letters="")
    if len(current.lines) in current.repeats:
        current.numbers.append(current.numbers[-1] + 2)
        current.lines.append(end)
        return True
    return any(_step(last, end, base) in _sizes(last) for base in current.bases)


def _continued(current: _Open, line: DumpLine) -> DumpLine | None:
    """Return the line as a line of the dump, None if it is none."""
    last = current.lines[-1]
    if line.is_sure and line.kind == "numbers" and all(map(_may_be_numbers, current.lines)):
        # Decimal numbers of two digits look like bytes until other numbers follow.
        last = replace(last, kind="numbers", width=0)
    if last.is_string:
        is_rest = len(line.tokens) == 1 and not line.label and not line.address and len(line.tokens[0]) % 2 == 0
        return replace(line, kind="bytes", is_string=True) if is_rest else None
    own, other = ((each.kind, each.width, each.is_string, bool(each.address)) for each in (line, last))
    is_other_label = line.label and _CHANGING.sub("", line.label) != _CHANGING.sub("", last.label)
    if own != other or is_other_label or (line.address and not _follows(current, line)):
        return None
    if current.lines[-1].kind != line.kind:
        current.lines = [replace(each, kind=line.kind, width=line.width) for each in current.lines]
    return line


def _follows(current: _Open, line: DumpLine) -> bool:
    """Return true if the address follows the last line, or some missing lines."""
    last, place = current.lines[-1], len(current.lines)
    bases = tuple(base for base in current.bases if base in line.bases)
    fitting = tuple(base for base in bases if _step(last, line, base) in _sizes(last))
    if place in current.repeats or fitting:
        current.bases = fitting or bases
        return True
    missing = ((_step(last, line, bases[0]) or 0) if bases else 0) - min(_sizes(last))
    if not 0 < missing <= _MOST_MISSING_LINES * max(_sizes(last)):
        return False
    current.gaps.append(place)
    return True


def _may_be_numbers(line: DumpLine) -> bool:
    return line.kind == "bytes" and not line.letters and all(token.isdecimal() for token in line.tokens)


def _step(before: DumpLine, after: DumpLine, base: int) -> int | None:
    """Return the distance to the next address."""
    try:
        return int(after.address, base) - int(before.address, base)
    except ValueError:
        return None


def _sizes(line: DumpLine) -> tuple[int, ...]:
    """Return the possible distances to the next address: numbers may have any size."""
    count = len(line.tokens)
    return (count, 2 * count, 4 * count, 8 * count) if line.kind == "numbers" else (count * line.width // 2,)


def _closed(current: _Open, name: str) -> Dump:
    lines, repeats = _with_addresses(current.lines), current.repeats
    missing = ""
    if current.gaps:
        place = current.gaps[0]
        missing = f"line {current.numbers[place]} goes from {lines[place - 1].address} to {lines[place].address}"
    first, last = current.numbers[0], current.numbers[-1]
    if lines[0].kind == "numbers":
        tokens = [token for line in lines for token in line.tokens]
        is_whole = all(re.fullmatch(r"[-+]?\d+", token) for token in tokens)
        numbers = tuple(
            float(token.rstrip("fF") if token[-1:] in "fF" and "inf" not in token.lower() else token)
            for token in tokens
        )
        return Dump(first, last, current.label, numbers=numbers, is_whole=is_whole, missing=missing)
    is_swapped = _are_numbers(lines)
    data = bytearray()
    for place, line in enumerate(lines):
        piece = _data(line, is_swapped=is_swapped)
        if place in repeats and place:
            size = _sizes(lines[place - 1])[0]
            count = _repeats(lines[place - 1], line, size, current.bases)
            if count * size > MAX_TEXT_BYTES - len(data):
                what = f"has more than {MAX_TEXT_BYTES:,} bytes"
                raise N6Error("N6-CAPTURE-002", what, where=f"{name}:{current.numbers[place]}")
            data += bytes(data[-size:]) * count
        data += piece
    return Dump(first, last, current.label, bytes(data), missing=missing)


def _with_addresses(lines: list[DumpLine]) -> list[DumpLine]:
    """Return lines with addresses that look like values, without a colon.

    Such addresses are found by their rise from line to line.
    """
    if len(lines) < 2 or lines[0].address or lines[0].kind != "words" or any(len(line.tokens) < 2 for line in lines):
        return lines
    made = [replace(line, address=line.tokens[0], tokens=line.tokens[1:]) for line in lines]
    rises = [_step(before, after, 16) in _sizes(before) for before, after in itertools.pairwise(made)]
    return made if all(rises) else lines


def _are_numbers(lines: Sequence[DumpLine]) -> bool:
    """Return true if words are numbers, with the last written byte first in memory.

    The letters after the words decide.
    """
    if lines[0].kind != "words":
        return False
    with_letters = [line for line in lines if line.letters]
    as_written, swapped = (
        all(printable(_data(line, is_swapped=order)).strip() == line.letters.strip() for line in with_letters)
        for order in (False, True)
    )
    if with_letters and as_written != swapped:
        return swapped
    # xxd writes groups of two bytes, always with letters after them.
    return not (with_letters and lines[0].width == 4)


def _data(line: DumpLine, *, is_swapped: bool) -> bytes:
    words = (bytes.fromhex(token) for token in line.tokens)
    return b"".join(word[::-1] if is_swapped else word for word in words)


def _repeats(before: DumpLine, after: DumpLine, size: int, bases: Sequence[int]) -> int:
    """Return the number of lines of this size that a star replaces."""
    gaps = ((_step(before, after, base) or 0) - size for base in bases)
    return next((gap // size for gap in gaps if size and gap > 0 and gap % size == 0), 0)
