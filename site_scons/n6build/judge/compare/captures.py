"""Captured tensors of a board: .npy, raw bytes, Intel hex, or a text with dumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.base.intel_hex import read_intel_hex
from n6build.base.npy import array_of, arrays_of
from n6build.judge.compare.dump_text import MAX_TEXT_BYTES, read_dumps

MAX_CAPTURE_BYTES = 256 << 20
_RAW_SUFFIXES = (".bin", ".raw", ".dat")
_PRINTABLE = bytes({*range(32, 127), *b"\t\r\n\x0b\x0c\x1b"})
_HINT = "pass a .npy file, raw bytes as .bin, or a console log with a hex dump"


@dataclass(frozen=True)
class Piece:
    """Captured values of one array or dump.

    Attributes:
        where: File, and lines of a dump.
        values: Flat: numbers, or bytes of an unknown type.
        is_raw: True for such bytes.
        label: Text at the beginning of a dump.
        missing: Missing lines of a dump, in words.
    """

    where: str
    values: NDArray[Any]
    is_raw: bool
    label: str = ""
    missing: str = ""


def read_capture(path: Path) -> list[Piece]:
    """Return the pieces in a captured file.

    Args:
        path: A .npy, .npz, raw or text file.

    Raises:
        N6Error: N6-CAPTURE-001 for a file without values; N6-CAPTURE-002 for too many; N6-FILE-002;
            N6-FILE-003.
    """
    data = read_at_most(path, MAX_CAPTURE_BYTES)
    found = _pieces(path, data)
    if not any(piece.values.size for piece in found):
        raise N6Error("N6-CAPTURE-001", "contains no values", where=path.name, hint=_HINT)
    return found


def _pieces(path: Path, data: bytes) -> list[Piece]:
    if data.startswith(b"\x93NUMPY") or path.suffix == ".npy":
        return [_array(path.name, lambda: array_of(data))]
    if path.suffix == ".npz":
        arrays = _read(path.name, lambda: arrays_of(data))
        return [_array(f"{path.name}: {name}", lambda each=each: each) for name, each in arrays.items()]
    if path.suffix in _RAW_SUFFIXES or data.translate(None, _PRINTABLE):
        text = _other_text(data)
        if path.suffix in _RAW_SUFFIXES or text is None:
            return [Piece(path.name, np.frombuffer(data, np.uint8), is_raw=True)]
    else:
        text = data.decode("ascii")
    if len(text) > MAX_TEXT_BYTES:
        raise N6Error("N6-CAPTURE-002", f"has more than {MAX_TEXT_BYTES >> 20} MiB of text", where=path.name)
    if text.lstrip().startswith(":"):
        return _hex_pieces(path)
    return dump_pieces(text, path.name)


def _hex_pieces(path: Path) -> list[Piece]:
    memory = read_intel_hex(path, MAX_CAPTURE_BYTES)
    return [
        Piece(
            f"{path.name}: 0x{span.address:08X}",
            np.frombuffer(b"".join(memory.chunks(span.address, span.end)), np.uint8),
            is_raw=True,
        )
        for span in memory.spans()
    ]


def _other_text(data: bytes) -> str | None:
    """Return text that is not plain ASCII, None for binary data.

    Such text is UTF-8 with letters beyond ASCII, or has lost bytes of a serial line.
    """
    if b"\0" in data or len(data.translate(None, _PRINTABLE)) * 10 > len(data):
        return None
    return data.decode("utf-8", "replace")


def dump_pieces(text: str, name: str) -> list[Piece]:
    """Return the dumps of a text as pieces.

    Args:
        text: Text of a log.
        name: Name of its file.

    Raises:
        N6Error: N6-CAPTURE-002.
    """
    pieces = []
    for dump in read_dumps(text, name):
        lines = f"{dump.first_line}-{dump.last_line}" if dump.last_line > dump.first_line else f"{dump.first_line}"
        if dump.data:
            values: NDArray[Any] = np.frombuffer(dump.data, np.uint8)
        else:
            values = np.array(dump.numbers, np.float64)
            if dump.is_whole and np.abs(values).max(initial=0) < 1 << 53:
                values = values.astype(np.int64)
        pieces.append(Piece(f"{name}:{lines}", values, is_raw=bool(dump.data), label=dump.label, missing=dump.missing))
    return pieces


def _read(name: str, read: Any) -> Any:
    try:
        return read()
    except ValueError as error:
        raise N6Error("N6-CAPTURE-001", f"is not a valid NumPy array: {error}", where=name, hint=_HINT) from error


def _array(name: str, read: Any) -> Piece:
    array = _read(name, read)
    if array.dtype.kind not in "iufb" or array.dtype.itemsize > 8:
        raise N6Error(
            "N6-CAPTURE-001",
            f"has values of type {array.dtype}",
            where=name,
            hint="save integers or floats of 8 to 64 bits",
        )
    return Piece(name, np.ascontiguousarray(array).reshape(-1), is_raw=False)


def sizes_text(pieces: Sequence[Piece]) -> str:
    """Return the sizes of the first six pieces in words, for a message."""
    shown = [
        f"{each.values.size} {'bytes' if each.is_raw else f'values ({each.values.dtype})'} in {each.where}"
        for each in pieces[:6]
    ]
    return ", ".join(shown) + (f" and {len(pieces) - 6} more" if len(pieces) > 6 else "")
