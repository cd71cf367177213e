"""Import of a network that another tool made: names of stage 1, whole weights."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import (
    file_size,
    read_at_most,
    read_bytes,
    read_in_chunks,
    require_at_most,
    write_atomically,
    write_chunks_atomically,
)
from n6build.base.intel_hex import read_intel_hex
from n6build.compile.artifacts.description import InitializerImage, NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.artifacts.weights import require_size, weights_read
from n6build.describe.compiled_folder import PrebuiltNetwork, weights_name

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


MAX_WEIGHTS_BYTES = 256 << 20
# A word of a C array has this number of bytes; the last word may be partly padding.
_ARRAY_WORD = 8


def import_network(network: PrebuiltNetwork, out: Path) -> None:
    """Write `network.outputs` to a folder, and refuse incomplete weights.

    Args:
        network: Files that another tool made.
        out: Folder of stage 1.

    Raises:
        N6Error: N6-PRE-003 for a hex file that is empty or spans several pools; N6-PRE-004 for a
            damaged C array; N6-NET-021 and N6-NET-025 for weights that are missing or have another
            size; N6-FILE-006 for files that Git LFS has not downloaded; and as `read_artifacts` and
            `read_intel_hex`.
    """
    for path in (network.source, *network.others):
        write_atomically(out / path.name, read_bytes(path))
    files = {weights_name(network.name, each.pool): each.file for each in network.weights}
    artifacts = read_artifacts(out, network.name, tuple(files))
    images = {image.file.name: image for image in artifacts.initializers}
    for name, image in images.items():
        if image.bytes and name not in files:
            require_size(artifacts, image, None, network.source)
    for name, file in files.items():
        found = images.get(name)
        try:
            size = _write_weights(file, out / name, found.bytes if found else 0)
        except N6Error as error:
            if found is None or error.id != "N6-FILE-006":
                raise
            raise _with_reader(error, artifacts, found) from error
        if found:
            require_size(artifacts, found, size, file)


def _with_reader(error: N6Error, artifacts: NetworkArtifacts, image: InitializerImage) -> N6Error:
    """Return an error about a Git LFS pointer that also names the missing weights."""
    what = f"{error.what}; it contains {weights_read(artifacts, image)}"
    return N6Error(error.id, what, where=error.where, hint=error.hint)


def _write_weights(file: Path, output: Path, expected: int) -> int:
    """Write a file of weights as bytes, and return their number.

    Args:
        file: File of weights.
        output: Output file.
        expected: Bytes; the last word of an array may have more.
    """
    if file.suffix != ".c":
        write_chunks_atomically(output, _initializers(file))
        return file_size(output)
    data = read_array(file)
    data = data[:expected] if expected <= len(data) < expected + _ARRAY_WORD else data
    write_atomically(output, data)
    return len(data)


def _initializers(path: Path) -> Iterable[bytes]:
    """Return the content of a file in pieces.

    A hex file is read completely before the first piece, since it may be faulty anywhere.
    """
    if path.suffix != ".hex":
        require_at_most(path, MAX_WEIGHTS_BYTES)
        return read_in_chunks(path)
    memory = read_intel_hex(path, MAX_WEIGHTS_BYTES)
    start, end = memory.start, memory.end
    if end <= start:
        raise N6Error("N6-PRE-003", "is an empty Intel hex file", where=path.name)
    if end - start > MAX_WEIGHTS_BYTES:
        raise N6Error(
            "N6-PRE-003",
            f"spans {end - start} bytes, from 0x{start:08X} to 0x{end:08X}: more than one memory pool",
            where=path.name,
            hint="pass the raw file of each pool instead",
        )
    return memory.chunks(start, end)
