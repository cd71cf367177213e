"""Blobs of the epoch controller, found in headers of ST's compiler and binaries.

The compiler writes the header beside network.c. A blob is a magic number, the number of words that
follow, and those words. A relocatable one is in a container (`containers.py`).
"""

from __future__ import annotations

import array
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most
from n6build.describe.formats.npu_blob import MAGIC
from n6build.judge.npu.containers import Container, blob_in_container, is_container, layout_of, read_container

# A blob ends with this instruction.
END = 12
MAX_BYTES = 64 << 20
# This limits the words of all blobs of a file. A large network has some ten thousand.
MOST_WORDS = 1 << 20
_HEADER_WORDS = 2

# The body has no braces, or a hostile file would cost the square of its length.
_ARRAY = re.compile(r"\buint64_t (_ec_blob_\w{1,200})\s{0,9}\[\d{0,9}\]\s{0,9}=\s{0,9}\{([^{};]*)\}")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_ITEM = re.compile(r"[^,\s]+")
_NUMBER = re.compile(r"0[xX]([0-9a-fA-F]{1,16})[uUlL]{0,3}")
# Arrays have 64-bit words and their alignment.
_ALIGNMENT = 8


@dataclass(frozen=True)
class Blob:
    """A blob of the epoch controller.

    Attributes:
        name: Name of the array, or a name made from the offset.
        where: File and array.
        words: Words that the epoch controller executes.
        at: Index of the first of them in the array or file, in words, for messages.
        relocatable: The blob is in a container.
        container: The container; None also for a blob inside a larger binary, where only the blob
            is searched.
    """

    name: str
    where: str
    words: tuple[int, ...]
    at: int
    relocatable: bool
    container: Container | None = None


def read_blobs(path: Path) -> tuple[Blob, ...]:
    """Read the blobs of a C header or a binary.

    Raises:
        N6Error: N6-FILE-002; N6-FILE-003; N6-NPU-001 if there is no blob in it; N6-NPU-002 for a
            damaged one.
    """
    data = read_at_most(path, MAX_BYTES)
    text = data.decode("utf-8", "replace")
    return blobs_in_header(text, path.name) if "_ec_blob_" in text else blobs_in_binary(data, path.name)


def blobs_of_network(source: Path, header: str | None) -> tuple[Blob, ...]:
    """Return the blobs of a network; a network may have none.

    Args:
        source: network.c, or a relocatable model that contains its blobs.
        header: Name of the file with the blobs, beside network.c, or None.

    Raises:
        N6Error: As `read_blobs`.
    """
    if source.suffix == ".c":
        return read_blobs(source.parent / header) if header and is_file(source.parent / header) else ()
    data = read_at_most(source, MAX_BYTES)
    return tuple(_found(_words_of(data), data, source.name))


def blobs_in_header(text: str, file: str) -> tuple[Blob, ...]:
    """Return the blobs of a C header.

    Raises:
        N6Error: N6-NPU-001, N6-NPU-002.
    """
    plain = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    blobs = []
    left = MOST_WORDS
    for match in _ARRAY.finditer(plain):
        where = f"{file}: {match[1]}"
        words = _words(match[2], plain, match.start(2), where, left)
        left -= len(words)
        blobs.append(_blob(words, match[1], where))
    if not blobs:
        raise _no_blob(file)
    return tuple(blobs)


def blobs_in_binary(data: bytes, file: str) -> tuple[Blob, ...]:
    """Return a single blob, or all blobs somewhere in a file, aligned to 8 bytes.

    Such a file is a relocatable model or an image of flash.

    Raises:
        N6Error: N6-NPU-001; N6-NPU-002 for a damaged single blob; in other files, inconsistent data
            is not a blob.
    """
    words = _words_of(data)
    if words and (words[0] == MAGIC or is_container(words)):
        return (_blob(words, file, file),)
    blobs = list(_found(words, data, file))
    if not blobs:
        raise _no_blob(file)
    return tuple(blobs)


def blob_of_words(words: Sequence[int], name: str) -> Blob:
    """Return the blob of some words, which include its header and any container.

    Args:
        words: The words.
        name: Name for messages.

    Raises:
        N6Error: N6-NPU-002.
    """
    return _blob(words, name, name)


def _words_of(data: bytes) -> array.array[int]:
    words = array.array("I", data[: len(data) // 4 * 4])
    if sys.byteorder == "big":
        words.byteswap()
    return words


def _found(words: array.array[int], data: bytes, file: str) -> Iterator[Blob]:
    """Yield the blobs in a file.

    Programs that compare with the magic number also contain it: a blob fits into the file, and ends
    with an end.
    """
    magic = MAGIC.to_bytes(4, "little")
    position = data.find(magic)
    left = MOST_WORDS
    while position >= 0:
        at = position // 4
        begin = at + _HEADER_WORDS
        count = words[at + 1] if at + 1 < len(words) else 0
        if (
            position % _ALIGNMENT == 0
            and 0 < count <= min(left, len(words) - begin)
            and words[begin + count - 1] == END
        ):
            name = f"blob_0x{position:X}"
            yield Blob(name, f"{file}: {name}", tuple(words[begin : begin + count]), begin, relocatable=False)
            left -= count
            position = data.find(magic, 4 * (begin + count))
        else:
            position = data.find(magic, position + 1)


def _words(body: str, text: str, start: int, where: str, most: int) -> list[int]:
    words: list[int] = []
    for item in _ITEM.finditer(body):
        number = _NUMBER.fullmatch(item[0])
        if number is None:
            line = text.count("\n", 0, start + item.start()) + 1
            raise N6Error("N6-NPU-002", f"'{item[0][:40]}' is not a hexadecimal number", where=f"{where}, line {line}")
        value = int(number[1], 16)
        words += (value & 0xFFFF_FFFF, value >> 32)
        if len(words) > most:
            raise _too_large(where)
    return words


def _blob(words: Sequence[int], name: str, where: str) -> Blob:
    layout = layout_of(words, where)
    at = blob_in_container(words, layout, where) if layout else 0
    if len(words) < at + _HEADER_WORDS or words[at] != MAGIC:
        begin = f"begins with 0x{words[at]:08X}" if at < len(words) else "is empty"
        raise N6Error("N6-NPU-002", f"{begin}; a blob begins with 0x{MAGIC:08X}", where=f"{where}, word {at}")
    count = words[at + 1]
    there = len(words) - at - _HEADER_WORDS
    if count > MOST_WORDS:
        raise _too_large(where)
    if count > there:
        what = f"announces {count} words, {count - there} more than it has"
        raise N6Error("N6-NPU-002", what, where=f"{where}, word {at + 1}")
    container = read_container(words, layout, count, where) if layout else None
    begin_at = at + _HEADER_WORDS
    content = tuple(words[begin_at : begin_at + count])
    return Blob(name, where, content, begin_at, relocatable=layout is not None, container=container)


def _too_large(where: str) -> N6Error:
    return N6Error("N6-NPU-002", f"has more than {MOST_WORDS} words", where=where, hint="pass a blob of ST's compiler")


def _no_blob(file: str) -> N6Error:
    hint = "compile with --enable-epoch-controller: ST's compiler then writes NAME_ecblobs.h"
    return N6Error("N6-NPU-001", "contains no blob of the epoch controller", where=file, hint=hint)
