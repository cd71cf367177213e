"""Parser of a line with values of memory, in a console log or from a debugger.

Values are hexadecimal bytes or words, or decimal numbers. Around them may be a time, a tag, an
address, and the same bytes as letters. The rules hold for the dumps of Zephyr, ESP-IDF, CHIP, ESPHome,
xxd, hexdump, gdb, OpenOCD, STM32CubeProgrammer, TFLite Micro, and for arrays in C and Python.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["bytes", "words", "numbers"]
_COLOURS = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_COMMENT = re.compile(r"/\*[^*]{0,1000}\*/|//.*")
_REPEATS = re.compile(r"([^\s{},]{1,40}) <repeats (\d{1,8}) times>")
# Limit for one line, since repeated values are written out.
_MOST_REPEATS = 1 << 18
_SYMBOL = re.compile(r"<[^<>]{1,200}>:")
_TOKEN = re.compile(r"[^\s:]+:?|:")
_SEPARATORS = str.maketrans(dict.fromkeys("{}[]();,=\"'|", " "))
_HEX = re.compile(r"(0[xX])?([0-9A-Fa-f]{1,16})")
_LONG_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}){9,}")
_DECIMAL = re.compile(
    r"[-+]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][-+]?\d{1,3})?f?|[-+]?(?:nan|inf)", re.IGNORECASE
)
_ADDRESS = re.compile(r"(?:0[xX])?([0-9A-Fa-f]{4,16}):?|([0-9A-Fa-f]{1,3}):")
_RANGE = re.compile(r"(\d{1,9})-\d{1,9}:")
_INDEXED = re.compile(r"(.{0,200}?)[\[( ](\d{1,9})[\])]?\s*[:=]\s*(\S{1,40}?)[,;]?")
_WIDTHS = (2, 4, 8, 16)
# Digits of an address of od, which is octal by default.
_OD_DIGITS = 7
# Fewer bytes may be words or numbers of a sentence.
_LEAST_BYTES = 4
_MOST_LETTERS = 64
# Around a list of values, and behind it.
_PUNCTUATION = " \t{}[]();,=\"'|"


@dataclass(frozen=True)
class DumpLine:
    """The values of a line.

    Attributes:
        kind: Kind of the values.
        tokens: The values as they are written, hexadecimal ones without 0x.
        width: Hexadecimal digits of a value; 0 for decimal numbers.
        address: As it is written, without 0x and colon; empty if the line has none.
        bases: Possible bases of the address: 16, and 10 or 8 if it may be a decimal or octal number.
        label: Text before the values.
        letters: The values as letters after them, or empty.
        is_sure: True if the line is a dump by itself, and not only below another one.
        is_string: True if the values are one string of digits in the order of memory.
    """

    kind: Kind
    tokens: tuple[str, ...]
    width: int
    address: str
    bases: tuple[int, ...]
    label: str
    letters: str
    is_sure: bool
    is_string: bool = False


@dataclass(frozen=True)
class _Token:
    text: str
    start: int
    end: int

    @property
    def shape(self) -> tuple[int, bool] | None:
        """Return the digits and true for a 0x; None if it is no hexadecimal value."""
        match = _HEX.fullmatch(self.text)
        if not match:
            return (len(self.text), False) if _LONG_HEX.fullmatch(self.text) else None
        digits = 2 if match[1] and len(match[2]) == 1 else len(match[2])
        return (digits, bool(match[1])) if digits in _WIDTHS else None


def read_line(line: str, *, only_numbers: bool = False) -> DumpLine | None:
    """Return the values of a line, or None for a line without any.

    Args:
        line: Line of a text, without its end.
        only_numbers: True if they can only be decimal, as on other lines of the dump.
    """
    text = _COMMENT.sub(" ", _COLOURS.sub("", line)).rstrip()
    match = _INDEXED.fullmatch(text.strip())
    if match and _DECIMAL.fullmatch(match[3]) and re.search("[A-Za-z_]", match[1]):
        return DumpLine("numbers", (match[3],), 0, match[2], (10,), match[1].strip(), "", is_sure=True)
    if sum(int(count) for _, count in _REPEATS.findall(text)) <= _MOST_REPEATS:
        text = _REPEATS.sub(_written_out, text)
    text = _SYMBOL.sub(": ", text)
    cleaned = text.translate(_SEPARATORS)
    tokens = [_Token(found[0], found.start(), found.end()) for found in _TOKEN.finditer(cleaned)]
    return (None if only_numbers else _hexadecimal(text, tokens)) or _decimal(text, tokens)


def _written_out(match: re.Match[str]) -> str:
    return " ".join([match[1]] * int(match[2]))


def _hexadecimal(text: str, tokens: Sequence[_Token]) -> DumpLine | None:
    start, end = _longest_run(tokens)
    if start == end:
        return None
    values = tokens[start:end]
    shape = values[0].shape
    assert shape is not None
    width, with_0x = shape
    values = values[: _before_letters(text, values)]
    behind = text[values[-1].end :]
    letters = behind.strip().strip("|").strip()
    if len(values) == end - start and _is_sentence(behind):
        return None
    if not with_0x and not letters.strip(_PUNCTUATION) and start and _is_among_numbers(text, tokens, start, end):
        return None
    is_string = bool(_LONG_HEX.fullmatch(values[0].text))
    if is_string and len(values) > 1:
        return None
    address, bases, label = _before(text, tokens[:start])
    is_marked = bool(address) or with_0x or is_string
    if not is_marked and _may_be_years(values):
        return None
    kind: Kind = "bytes" if width == 2 or is_string else "words"
    digits = tuple(value.text.lower().removeprefix("0x").rjust(width, "0") for value in values)
    is_sure = is_marked or _are_many(len(digits), width, label)
    return DumpLine(kind, digits, width, address, bases, label, letters, is_sure=is_sure, is_string=is_string)


def _is_sentence(behind: str) -> bool:
    """Return true if the text behind the values continues a sentence."""
    return bool(behind.strip(_PUNCTUATION)) and not behind.startswith(("  ", "\t", " |", "|", ": "))


def _may_be_years(values: Sequence[_Token]) -> bool:
    """Return true if words may be decimal numbers of four digits, for example a year."""
    return all(len(value.text) == 4 and value.text.isdecimal() for value in values)


def _are_many(count: int, width: int, label: str) -> bool:
    """Return true if so many values of this width are hardly a number by itself."""
    one_is_enough = width == 2 or (width != 4 and not label)
    return count * width // 2 >= _LEAST_BYTES and (one_is_enough or count > 1)


def _is_among_numbers(text: str, tokens: Sequence[_Token], start: int, end: int) -> bool:
    """Return true if two-digit values continue decimal numbers.

    A comma, a point, a sign, or one or three digits tell a number from an address.
    """
    before = tokens[start - 1]
    if "," in text[before.end : tokens[start].start] or not before.text.isalnum():
        is_number = bool(_DECIMAL.fullmatch(before.text))
    else:
        is_number = before.text.isdecimal() and len(before.text) in (1, 3)
    return is_number and all(each.text.isdecimal() for each in tokens[start:end])


def _longest_run(tokens: Sequence[_Token]) -> tuple[int, int]:
    """Return start and end of the longest run of values with the same shape."""
    best = (0, 0)
    most = start = 0
    while start < len(tokens):
        shape = tokens[start].shape
        end = start + 1
        while shape and end < len(tokens) and tokens[end].shape == shape:
            end += 1
        if shape and ((end - start) * shape[0] >= most or best[1] - best[0] == 1):
            # A single value in front of others is their address.
            best, most = (start, end), (end - start) * shape[0]
        start = end
    return best


def _before_letters(text: str, values: Sequence[_Token]) -> int:
    """Return the number of values in front of the letters.

    Letters such as `ab cd` look like values, too. They are letters if they show the values before them.
    """
    for kept in range(len(values) - 1, max(0, len(values) - _MOST_LETTERS), -1):
        between = text[values[kept - 1].end : values[kept].start]
        if "|" not in between and len(between) < 2:
            continue
        if _say_the_same(values[:kept], text[values[kept].start :].rstrip().removesuffix("|")):
            return kept
    return len(values)


def _say_the_same(values: Sequence[_Token], letters: str) -> bool:
    words = [
        bytes.fromhex(value.text.lower().removeprefix("0x").zfill(2)) for value in values if len(value.text) % 2 == 0
    ]
    shown = letters.rstrip()
    return any(printable(b"".join(order)).strip() == shown.strip() for order in (words, [word[::-1] for word in words]))


def printable(data: bytes) -> str:
    """Return bytes as the letters of a dump, with a full stop for other bytes."""
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)


def _before(text: str, tokens: Sequence[_Token]) -> tuple[str, tuple[int, ...], str]:
    """Return the address, its possible bases, and the text in front of it."""
    kept = [*tokens]
    while kept and kept[-1].text in (":", "->", "-"):
        kept.pop()
    if not kept:
        return "", (), ""
    label = text[: kept[-1].start].strip()
    if match := _RANGE.fullmatch(kept[-1].text):
        # ESPHome writes decimal offsets of the first byte and of the end.
        return match[1], (10,), label
    if match := _ADDRESS.fullmatch(kept[-1].text):
        address = match[1] or match[2]
        return address, _bases(address), label
    return "", (), text[: kept[-1].end].strip()


def _bases(address: str) -> tuple[int, ...]:
    if not address.isdecimal() or (len(address) >= 4 and len(address) != _OD_DIGITS):
        return (16,)
    return (16, 10, 8) if len(address) == _OD_DIGITS and "8" not in address and "9" not in address else (16, 10)


def _decimal(text: str, tokens: Sequence[_Token]) -> DumpLine | None:
    """Return the decimal numbers up to the end of the line."""
    start = len(tokens)
    while start and _DECIMAL.fullmatch(tokens[start - 1].text):
        start -= 1
    found = tuple(token.text for token in tokens[start:])
    if not found:
        return None
    address, bases, label = _before(text, tokens[:start])
    return DumpLine("numbers", found, 0, address, bases, label, "", is_sure=len(found) > 1)
