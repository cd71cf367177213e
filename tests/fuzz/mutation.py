"""Mutations of inputs: bytes, words, and the numbers and texts of a format."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

_NUMBERS = (
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    64,
    127,
    128,
    255,
    256,
    1 << 15,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
)
_TOKEN = re.compile(rb'-?\d[\w.]*|"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|[^\s\w]')
_INSTEAD = (
    *b"0 1 -1 2.5 1e999 -1e999 1e-999 NaN Infinity null ~ true false [] {} [[]] {'a':1} \"\" \"a\" '' % $ \\ : ,".split(),
    *(
        b"9" * 20,
        b"-" + b"9" * 20,
        b"9" * 4400,
        b"0x" + b"f" * 400,
        b"1" * 400 + b".5",
        b'"' + b"x" * 5000 + b'"',
        b"4300:00",
    ),
    *(
        rb'"\ud800"',
        rb'"\u0000"',
        b"\0",
        b"\xff",
        b"\xc3\xa9",
        b"\xe2\x80\xa8",
        b"\x1b[31m",
        b"\r",
        b"\n\n",
        b" " * 300,
    ),
    *(
        b"!!int x",
        b"!!bool x",
        b"!!float x",
        b"!!timestamp x",
        b"!!binary x",
        b"!!python/name:os.system x",
        b"!x y",
        b"&a [*a]",
    ),
    *(
        b"../../x",
        b"/etc/passwd",
        b"${1+1}",
        b"`id`",
        b"[" * 80,
        b"{" * 2000,
        b'{"a":' * 2000,
        b"- " * 2000,
        b"(" * 3000,
    ),
)
_MOST_BYTES = 1 << 18


def mutated(data: bytes, others: Sequence[bytes], words: Sequence[bytes], random: Random) -> bytes:
    """Return a damaged copy of the data.

    Args:
        others: Seeds from which pieces are taken.
        words: Words of the format.
    """
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        data = random.choice(_MUTATIONS)(data, others, words, random)[:_MOST_BYTES]
    return data


def _bits(data: bytes, others: Sequence[bytes], words: Sequence[bytes], random: Random) -> bytes:
    if not data:
        return b"\0"
    changed = bytearray(data)
    changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _byte(data: bytes, others: Sequence[bytes], words: Sequence[bytes], random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + bytes([random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))]) + data[at + 1 :]


def _number(data: bytes, others: Sequence[bytes], words: Sequence[bytes], random: Random) -> bytes:
    size = random.choice((2, 4, 4, 4, 8))
    at = random.randint(0, len(data))
    at -= at % random.choice((1, size))
    value = random.choice(_NUMBERS) + random.choice((0, 0, -1, 1, random.randrange(1 << 32)))
    return (
        data[:at]
        + (value % (1 << 8 * size)).to_bytes(size, random.choice(("little", "little", "big")))
        + data[at + size :]
    )


def _token(data: bytes, others: Sequence[bytes], words: Sequence[bytes], random: Random) -> bytes:
    """Change one of the first ten thousand tokens."""
    found = [match.span() for match, _ in zip(_TOKEN.finditer(data), range(10_000), strict=False)]
    if not found:
        return data + random.choice(_INSTEAD)
    start, end = random.choice(found)
    kind = random.randrange(4)
    if kind == 0:
        other = random.choice(found)
        return data[:start] + data[slice(*other)] + data[end:]
    if kind == 1 and words:
        return data[:start] + random.choice(words) + data[end:]
    return data[:start] + random.choice(_INSTEAD) + data[end if kind != 2 else start :]


def _cut(data: bytes, others: Sequence[bytes], words: Sequence[bytes], random: Random) -> bytes:
    return data[: random.randint(0, len(data))]


def _span(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.choice((1, 2, 4, 16, 64, len(data))))


def _without(data: bytes, others: Sequence[bytes], words: Sequence[bytes], random: Random) -> bytes:
    start, end = _span(data, random)
    return data[:start] + data[end:]


def _twice(data: bytes, others: Sequence[bytes], words: Sequence[bytes], random: Random) -> bytes:
    start, end = _span(data, random)
    return data[:end] + data[start:end] * random.choice((1, 1, 2, 50)) + data[end:]


def _spliced(data: bytes, others: Sequence[bytes], words: Sequence[bytes], random: Random) -> bytes:
    other = random.choice(others) if others else data
    return data[: random.randint(0, len(data))] + other[random.randint(0, len(other)) :]


def _line(data: bytes, others: Sequence[bytes], words: Sequence[bytes], random: Random) -> bytes:
    """Reorder, repeat or delete lines."""
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one : one + random.randrange(3)] = [lines[other]] * random.randrange(3)
    return b"\n".join(lines)


_MUTATIONS = (_bits, _byte, _number, _number, _token, _token, _token, _cut, _without, _twice, _spliced, _line)
