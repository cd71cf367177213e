"""Assignment of captured values to outputs, and their reading as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.judge.compare.captures import Piece, sizes_text
from n6build.judge.compare.closeness import Steps
from n6build.judge.compare.tensors import Port

_QUANTISED = ("int8", "uint8", "int16", "uint16")
# Bytes of an element, in the order in which they are tried; 0 is the size of the model's type.
_ORDER = (0, 4, 1, 2, 8)


@dataclass(frozen=True)
class CapturedOutput:
    """Captured values of one output.

    Attributes:
        port: Output of the model.
        rows: Number of vectors.
        values: Flat: numbers, or bytes.
        is_raw: True if the type of the values is unknown.
        where: Files and lines.
    """

    port: Port
    rows: int
    values: NDArray[Any]
    is_raw: bool
    where: tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """Captured values, read as numbers of a type.

    Attributes:
        how: The type, in words.
        steps: The numbers, in steps of the quantisation.
        real: The numbers as real values, if they are floats; None for integers, which are steps.
        cause: Cause that makes this reading necessary; empty for the usual readings.
    """

    how: str
    steps: Steps
    real: Steps | None
    cause: str = ""


def elements_of(port: Port) -> int:
    """Return the number of elements of a model's tensor."""
    return math.prod(port.shape)


def is_quantised(port: Port) -> bool:
    """Return true if a model's output has integers that represent real numbers."""
    return port.type in _QUANTISED


def assignments(pieces: Sequence[Piece], ports: Sequence[Port], rows: int) -> list[list[CapturedOutput]]:
    """Return the possible assignments of pieces to outputs, the most likely first.

    The most likely has all vectors, in the model's type. Row i of a capture belongs to row i of the
    inputs; a capture may have fewer rows.

    Args:
        pieces: In the order of files and lines.
        ports: Outputs of the model.
        rows: Number of input vectors.

    Raises:
        N6Error: N6-CAPTURE-003 if no pieces have the sizes of the outputs.
    """
    whole = [each for each in pieces if not each.missing]
    outputs = [each for each in whole if "out" in each.label.lower()]
    ways = _ways(outputs, ports, rows) or _ways(whole, ports, rows)
    if ways:
        return sorted(ways, key=lambda way: way[0].rows != rows)
    broken = next((each for each in pieces if each.missing), None)
    wanted = ", ".join(f"{elements_of(port)} of {port.type} for '{port.name}'" for port in ports)
    what = f"no captured values match the size of the model's outputs: {wanted}, for 1 to {rows} vectors"
    if broken:
        what += f"; a dump is incomplete: {broken.missing}"
    raise N6Error(
        "N6-CAPTURE-003",
        what,
        where=sizes_text(pieces),
        hint="capture whole outputs, and pass the same number of rows with inputs=",
    )


def _ways(pieces: Sequence[Piece], ports: Sequence[Port], rows: int) -> list[list[CapturedOutput]]:
    """Return the first assignment for each number of vectors, by sizes of an element."""
    ways: dict[int, list[CapturedOutput]] = {}
    for size in _ORDER:
        found = _assigned(pieces, ports, rows, size)
        if found and all(map(readings_of, found)):
            ways.setdefault(found[0].rows, found)
    return [*ways.values()]


def _assigned(pieces: Sequence[Piece], ports: Sequence[Port], rows: int, size: int) -> list[CapturedOutput]:
    """Return an assignment, empty if there is none.

    `size` is that of an element in bytes, 0 for that of the model's type; arrays have their own.
    """
    sizes = [size or np.dtype(port.type).itemsize for port in ports]
    if len(ports) == 1:
        return _of_one(pieces, ports[0], rows, sizes[0])
    joint = [(piece, _vectors_of_all(piece, ports, sizes)) for piece in pieces]
    whole = [(piece, number) for piece, number in joint if 0 < number <= rows]
    return _split(*whole[0], ports, sizes) if len(whole) == 1 else _of_several(pieces, ports, rows, sizes)


def _of_one(pieces: Sequence[Piece], port: Port, rows: int, size: int) -> list[CapturedOutput]:
    """Return one piece with all vectors, or one piece for each vector."""
    fitting = [(piece, _vectors(piece, elements_of(port), size)) for piece in pieces]
    used = [(piece, number) for piece, number in fitting if 0 < number <= rows]
    used = [(piece, number) for piece, number in used if _are_alike([used[0][0], piece])]
    whole = [piece for piece, number in used if number == rows]
    singles = [piece for piece, number in used if number == 1]
    if rows > 1 and len(whole) == 1:
        return [_joined(port, whole, rows)]
    if 0 < len(singles) <= rows:
        return [_joined(port, singles, len(singles))]
    return [_joined(port, [used[0][0]], used[0][1])] if len(used) == 1 else []


def _of_several(
    pieces: Sequence[Piece], ports: Sequence[Port], rows: int, sizes: Sequence[int]
) -> list[CapturedOutput]:
    """Return pieces with one output after another, for one vector after another."""
    counts = [elements_of(port) for port in ports]
    fitting = [[_vectors(piece, count, each) for count, each in zip(counts, sizes, strict=True)] for piece in pieces]
    used = [(piece, fit) for piece, fit in zip(pieces, fitting, strict=True) if any(0 < each <= rows for each in fit)]
    if len(used) % len(ports):
        return []
    groups = [[piece for piece, _ in used[place :: len(ports)]] for place in range(len(ports))]
    vectors = [[fit[place] for _, fit in used[place :: len(ports)]] for place in range(len(ports))]
    total = _common_total(vectors)
    if not 0 < total <= rows or not all(map(_are_alike, groups)):
        return []
    return [_joined(port, group, total) for port, group in zip(ports, groups, strict=True)]


def _common_total(vectors: Sequence[Sequence[int]]) -> int:
    """Return the number of vectors of each output.

    It is 0 if the outputs differ, or a piece has no vector.
    """
    totals = {sum(each) for each in vectors}
    return totals.pop() if len(totals) == 1 and all(min(each, default=0) > 0 for each in vectors) else 0


def _are_alike(pieces: Sequence[Piece]) -> bool:
    """Return true if pieces can be read as one: bytes, or numbers of one type."""
    return len({(piece.is_raw, piece.values.dtype) for piece in pieces}) == 1


def _vectors(piece: Piece, count: int, size: int) -> int:
    """Return the number of vectors in a piece, 0 for a part of one.

    `count` is the number of elements of an output.
    """
    found = piece.values.size
    if piece.is_raw or found % max(count, 1):
        # The values are bytes, or an array of another type, whose bytes may be of the right one.
        found = piece.values.nbytes // size if piece.values.nbytes % size == 0 else 0
    return found // count if count and found % count == 0 else 0


def _vectors_of_all(piece: Piece, ports: Sequence[Port], sizes: Sequence[int]) -> int:
    """Return the number of vectors in a piece with all outputs one after another."""
    counts = [elements_of(port) for port in ports]
    total = sum(count * size for count, size in zip(counts, sizes, strict=True)) if piece.is_raw else sum(counts)
    return piece.values.size // total if total and piece.values.size % total == 0 else 0


def _split(piece: Piece, rows: int, ports: Sequence[Port], sizes: Sequence[int]) -> list[CapturedOutput]:
    table = piece.values.reshape(rows, -1)
    found = []
    start = 0
    for port, size in zip(ports, sizes, strict=True):
        end = start + elements_of(port) * (size if piece.is_raw else 1)
        found.append(CapturedOutput(port, rows, table[:, start:end].reshape(-1), piece.is_raw, (piece.where,)))
        start = end
    return found


def _joined(port: Port, pieces: Sequence[Piece], rows: int) -> CapturedOutput:
    values = np.concatenate([piece.values for piece in pieces])
    return CapturedOutput(
        port, rows, values, all(piece.is_raw for piece in pieces), tuple(piece.where for piece in pieces)
    )


def readings_of(output: CapturedOutput) -> list[Reading]:
    """Return the possible readings of a captured output, the usual ones first."""
    is_array = not output.is_raw and output.values.size == elements_of(output.port) * output.rows
    return list(_readings_of_array(output) if is_array else _readings_of_bytes(output))


def _readings_of_array(output: CapturedOutput) -> Iterator[Reading]:
    values = output.values
    yield _reading(output, values, values.dtype.name)
    if values.dtype.itemsize == 1 and values.dtype.kind in "iu":
        other = "int8" if values.dtype.kind == "u" else "uint8"
        yield _reading(output, values.view(other), other, "sign")
    elif values.dtype.itemsize > 1:
        yield _reading(output, values.byteswap(), f"{values.dtype.name}, bytes swapped", "byte order")


def _readings_of_bytes(output: CapturedOutput) -> Iterator[Reading]:
    port, count = output.port, elements_of(output.port) * output.rows
    own = np.dtype(port.type).newbyteorder("<")
    data = np.frombuffer(output.values.tobytes(), np.uint8)
    size = data.size // count
    if data.size % count or size not in _ORDER:
        return
    usual = [own] if own.itemsize == size else []
    if size == 4 and is_quantised(port):
        usual.append(np.dtype("<f4"))
    for dtype in usual:
        yield _reading(output, data.view(dtype), dtype.name)
    for code in ("f", "i"):
        for order in "<>":
            dtype = np.dtype(f"{order}{code}{size}") if size > 1 else own
            if dtype in usual or size == 1:
                continue
            is_swapped = order == ">" and dtype.newbyteorder("<") in usual
            cause = "byte order" if is_swapped else "float width" if code == "f" else "integer width"
            words = f"{dtype.name}, most significant byte first" if order == ">" else dtype.name
            yield _reading(output, data.view(dtype), words, cause)


def _reading(output: CapturedOutput, values: NDArray[Any], how: str, cause: str = "") -> Reading:
    port = output.port
    with np.errstate(all="ignore"):
        table = values.reshape(output.rows, -1).astype(np.float64)
        if values.dtype.kind == "f":
            return Reading(how, table / port.scale + port.zero_point, table, cause)
    return Reading(how, table, None, cause)
