"""Weights as a C array of ST's tool, _mem_pool_<pool>_<network>."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most

# This limits the text, in which a word of 8 bytes takes 22 characters.
MAX_BYTES = 128 << 20
_BYTES = {"uint64_t": 8, "uint32_t": 4, "uint16_t": 2, "uint8_t": 1, "unsigned char": 1}
_HEAD = re.compile(
    rb"\b(uint(?:64|32|16|8)_t|unsigned char)\s{1,9}_mem_pool_\w{1,200}\s{0,9}\[[^\]{};]{0,20}\]\s{0,9}=\s{0,9}\{"
)
_COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_NUMBER = re.compile(rb"(?:0[xX]([0-9a-fA-F]{1,16})|([0-9]{1,20}))[uUlL]{0,3}")
_ELEMENT = re.compile(rb"([^,]*)(,|\Z)")
# Bytes are joined to pieces of this size.
_PIECE = 1 << 16


def read_array(path: Path) -> bytes:
    """Return the bytes of the array in a C file, as the chip has them in memory.

    Raises:
        N6Error: N6-FILE-002; N6-FILE-003; N6-PRE-004 for a file without such an array, or with an
            element that is no number.
    """
    text = read_at_most(path, MAX_BYTES)
    head = _HEAD.search(text)
    if head is None:
        raise _damaged(path, "defines no array _mem_pool_...", text, 0)
    end = text.find(b"}", head.end())
    if end < 0:
        raise _damaged(path, "ends inside its array", text, len(text))
    return b"".join(_pieces(path, text, head.end(), end, _BYTES[head[1].decode()]))


def _pieces(path: Path, text: bytes, start: int, end: int, size: int) -> Iterator[bytes]:
    """Yield the bytes of an array in pieces; an element has `size` bytes."""
    # Comments become blanks of the same length, so that lines stay.
    body = _COMMENT.sub(lambda comment: re.sub(rb"[^\n]", b" ", comment[0]), text[start:end])
    piece = bytearray()
    for element in _ELEMENT.finditer(body):
        written = element[1].strip()
        number = _NUMBER.fullmatch(written)
        if number is None:
            if not written and not element[2]:
                # Nothing follows the last comma.
                continue
            found = written[:40].decode(errors="replace")
            raise _damaged(path, f"has '{found}' in its array, which is not a number", text, start + element.start())
        value = int(number[1], 16) if number[1] else int(number[2])
        if value >> 8 * size:
            raise _damaged(
                path, f"has {value} in its array, more than {size} bytes hold", text, start + element.start()
            )
        piece += value.to_bytes(size, "little")
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _damaged(path: Path, what: str, text: bytes, position: int) -> N6Error:
    line = text.count(b"\n", 0, position) + 1
    return N6Error(
        "N6-PRE-004", what, where=f"{path}:{line}", hint="copy the whole file, or use the raw file of the pool"
    )
