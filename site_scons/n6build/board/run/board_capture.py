"""Comparison of captured board outputs with the reference interpreter.

The comparison also searches for a cause that explains the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes
from n6build.board.run.console_log import read_console
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.formats.console import RUN_OUTPUT
from n6build.describe.model import Tolerance
from n6build.judge.compare.captures import MAX_CAPTURE_BYTES, Piece, read_capture
from n6build.judge.compare.diagnosis import Diagnosis, Reference, diagnose, is_equal
from n6build.judge.compare.input_causes import ChangedInput, changed_inputs, unrelated_inputs
from n6build.judge.compare.interpret import ports_of, reference_rows
from n6build.judge.compare.readings import CapturedOutput, assignments, elements_of, is_quantised
from n6build.judge.compare.tensors import Port
from n6build.place.memory_plan.vectors import seeded_array

# Limit of inferences on changed inputs, each vector of a change being one: more take too long.
_MOST_INFERENCES = 300
_HINT = "write a row for each vector, in the type and shape of the model's input, or real numbers for a quantised input"


@dataclass(frozen=True)
class Compared:
    """Result of a comparison of captured outputs with the reference.

    Attributes:
        model: File name of the model.
        inputs: Name of the file with the inputs of the reference.
        vectors: Number of vectors.
        tolerance: Least cosine of each vector and output.
        tried: Number of changed inputs that the reference computed with.
        outputs: A diagnosis for each output of the model.
    """

    model: str
    inputs: str
    vectors: int
    tolerance: float
    tried: int
    outputs: tuple[Diagnosis, ...]


def captured_pieces(paths: Sequence[Path]) -> list[Piece]:
    """Return the pieces of data in captured files.

    Args:
        paths: In the order of the outputs, or of the vectors.

    Raises:
        N6Error: N6-CAPTURE-001, N6-CAPTURE-002, N6-FILE-002, N6-FILE-003.
    """
    found: list[Piece] = []
    for path in paths:
        found += _own_console(path) or read_capture(path)
    return found


def _own_console(path: Path) -> list[Piece]:
    """Return the outputs in a console log of this project's Appli."""
    if path.stat().st_size > MAX_CAPTURE_BYTES:
        return []
    data = read_bytes(path)
    if RUN_OUTPUT.head.encode() not in data:
        return []
    log = read_console(data.decode("utf-8", "replace").splitlines())
    return [
        Piece(f"{path.name}: run {number}, output {index}", np.frombuffer(output, np.uint8), is_raw=True)
        for number, inference in sorted(log.inferences.items())
        for index, output in sorted(inference.outputs.items())
    ]


def seeded_inputs(model: Path) -> NDArray[np.generic]:
    """Return seeded random inputs for a model.

    Args:
        model: File of the model.

    Raises:
        N6Error: N6-COMPARE-001 to -003.
    """
    takes, _ = ports_of(model)
    return seeded_array([_buffer(port) for port in takes])


def _buffer(port: Port) -> IoBuffer:
    size = elements_of(port) * np.dtype(port.type).itemsize
    return IoBuffer(port.name, None, size, port.type, port.shape, port.scale, port.zero_point)  # type: ignore[arg-type]


def compare_captures(
    model: Path, inputs: Path, captured: Sequence[Path], tolerance: Tolerance, classes: int
) -> Compared:
    """Compare captured outputs with the reference.

    Args:
        model: File of the model, .tflite or .onnx.
        inputs: File with the input vectors of the board.
        captured: Files with the board's outputs for these vectors.
        tolerance: Largest allowed distance from the reference.
        classes: Number of the model's classes, 0 if it has none.

    Raises:
        N6Error: N6-CAPTURE-00x, N6-COMPARE-00x.
    """
    takes, gives = ports_of(model)
    vectors = _vectors(read_capture(inputs), takes, inputs.name)
    ways = assignments(captured_pieces(captured), gives, len(vectors[0]))
    plain = _tables(reference_rows(model, [list(row) for row in zip(*vectors, strict=True)]))
    rows = max(way[0].rows for way in ways)
    channels_last = model.suffix == ".tflite"
    changes = [
        (place, change)
        for place, (port, values) in enumerate(zip(takes, vectors, strict=True))
        for change in changed_inputs(values[:rows], port, channels_last=channels_last)
    ]
    equal = [way for way in ways if all(map(is_equal, way, plain))]
    if equal:
        ways, changes = equal[:1], []
    first = max(1, min(rows, _MOST_INFERENCES // max(len(changes), 1)))
    if changes:
        say("Searching", "for causes", f"{len(changes)} changes of the input for {first} vectors, with the interpreter")
    changed = _changed(model, vectors, changes, first)
    unrelated = _unrelated(model, vectors, takes) if changes else [each[:0] for each in plain]

    @cache
    def of_all(number: int) -> list[Any]:
        (made,) = _changed(model, vectors, [changes[number]], rows)
        return made

    numbers = {id(change): number for number, (_, change) in enumerate(changes)}

    def diagnosed(output: CapturedOutput, place: int) -> Diagnosis:
        of_output = tuple((change, made[place]) for (_, change), made in zip(changes, changed, strict=True))
        reference = Reference(
            plain[place], of_output, unrelated[place], lambda change: of_all(numbers[id(change)])[place]
        )
        others = [(port.name, steps) for port, steps in zip(gives, plain, strict=True) if port is not gives[place]]
        top1 = tolerance.top1 and elements_of(output.port) == classes
        return diagnose(output, reference, others, tolerance.cosine, top1=top1)

    found = [tuple(diagnosed(output, place) for place, output in enumerate(way)) for way in ways]
    best = max(found, key=lambda way: (sum(each.within for each in way), sum(bool(each.fits) for each in way)))
    return Compared(model.name, inputs.name, best[0].rows, tolerance.cosine, len(changed), best)


def _vectors(pieces: Sequence[Piece], takes: Sequence[Port], name: str) -> list[NDArray[Any]]:
    """Return a table for each input of the model, in the input's type."""
    if len(pieces) == 1 and len(takes) > 1:
        sizes = [elements_of(port) * np.dtype(port.type).itemsize for port in takes]
        data = np.frombuffer(pieces[0].values.tobytes(), np.uint8)
        if data.size == 0 or data.size % sum(sizes):
            raise _other_inputs(pieces[0], takes, name)
        parts = np.split(data.reshape(-1, sum(sizes)), np.cumsum(sizes)[:-1], axis=1)
        return [
            np.ascontiguousarray(part).view(port.type).reshape(len(part), *port.shape)
            for part, port in zip(parts, takes, strict=True)
        ]
    if len(pieces) != len(takes):
        what = f"contains {len(pieces)} arrays or dumps, but the model has {len(takes)} inputs"
        raise N6Error("N6-CAPTURE-004", what, where=name, hint=_HINT)
    tables = [_table(piece, port, takes, name) for piece, port in zip(pieces, takes, strict=True)]
    if len({len(each) for each in tables}) != 1:
        raise N6Error("N6-CAPTURE-004", "has another number of vectors for each input", where=name, hint=_HINT)
    return tables


def _table(piece: Piece, port: Port, takes: Sequence[Port], name: str) -> NDArray[Any]:
    own, values = np.dtype(port.type), piece.values
    if piece.is_raw and values.size % own.itemsize == 0:
        values = values.view(own.newbyteorder("<")).astype(own)
    count = elements_of(port)
    if piece.missing or count == 0 or values.size == 0 or values.size % count:
        raise _other_inputs(piece, takes, name)
    if values.dtype != own:
        values = _converted(values, port)
        if values is None:
            raise _other_inputs(piece, takes, name)
    return np.ascontiguousarray(values).reshape(-1, *port.shape)


def _converted(values: NDArray[Any], port: Port) -> Any:
    """Convert values to the model's type; return None if a number would change.

    A quantised input takes real numbers, which are rounded and clipped.
    """
    own = np.dtype(port.type)
    if values.dtype.kind == "f" and is_quantised(port):
        limits = np.iinfo(own)
        steps = np.rint(np.nan_to_num(values.astype(np.float64)) / port.scale) + port.zero_point
        return np.clip(steps, limits.min, limits.max).astype(own)
    with np.errstate(all="ignore"):
        made = values.astype(own)
    same = made.astype(np.float64) == values.astype(np.float64)
    return made if (own.kind == "f" and values.dtype.kind == "f") or bool(same.all()) else None


def _other_inputs(piece: Piece, takes: Sequence[Port], name: str) -> N6Error:
    wanted = ", ".join(f"{port.type} {list(port.shape)}" for port in takes)
    what = f"{piece.values.size} values of type {piece.values.dtype} do not fit the model, whose input is {wanted}"
    return N6Error("N6-CAPTURE-004", what, where=name, hint=_HINT)


def _tables(made: Sequence[Sequence[NDArray[Any]]]) -> list[Any]:
    """Return a table for each output from the outputs of each inference."""
    return [
        np.stack([np.asarray(each, np.float64).reshape(-1) for each in output]) for output in zip(*made, strict=True)
    ]


def _unrelated(model: Path, vectors: Sequence[NDArray[Any]], takes: Sequence[Port]) -> list[Any]:
    """Return a table for each output, for inputs unrelated to these vectors."""
    tables = [unrelated_inputs(values, port) for values, port in zip(vectors, takes, strict=True)]
    return _tables(reference_rows(model, [list(row) for row in zip(*tables, strict=True)]))


def _changed(
    model: Path, vectors: Sequence[NDArray[Any]], changes: Sequence[tuple[int, ChangedInput]], rows: int
) -> list[list[Any]]:
    """Return a table for each output, for each changed input.

    Only the first `rows` vectors are computed. A change is paired with the place of its input.
    """
    runs = [
        [(change.values[row] if number == place else each[row]) for number, each in enumerate(vectors)]
        for place, change in changes
        for row in range(rows)
    ]
    made = reference_rows(model, runs) if runs else ()
    return [_tables(made[start : start + rows]) for start in range(0, len(made), rows)]
