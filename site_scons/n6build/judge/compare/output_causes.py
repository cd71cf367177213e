"""Causes that change an output after the network has computed it.

Each cause can be undone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from n6build.judge.compare.closeness import Steps
from n6build.judge.compare.readings import Reading, is_quantised
from n6build.judge.compare.tensors import Port

_HALF = {"int8": 128, "uint8": 128, "int16": 32768, "uint16": 32768}
# More rows than this are not sorted.
_MOST_ROWS = 2048
# Quantisation of a softmax's result.
_SOFTMAX_SCALE, _SOFTMAX_ZERO = 1 / 256, -128


@dataclass(frozen=True)
class Undone:
    """A captured output without a supposed cause.

    Attributes:
        cause: Name of the cause.
        what: Event on the board, for people.
        got: The captured values without the cause, a row for each vector.
        wanted: Values that they are compared with.
        freedom: Bits that were free to choose, such as an order.
        is_real: True for floats, which may be between steps.
        fields: Number of values that were moved together.
    """

    cause: str
    what: str
    got: Steps
    wanted: Steps
    freedom: float = 0.0
    is_real: bool = False
    fields: int = 1


def undone(reading: Reading, wanted: Steps, port: Port) -> Iterator[Undone]:
    """Yield a captured output without each possible cause.

    Args:
        reading: Reading of the captured values.
        wanted: Values of the reference, in steps.
        port: The output.
    """
    with np.errstate(all="ignore"):
        yield from _undone(reading, wanted, port)


def _undone(reading: Reading, wanted: Steps, port: Port) -> Iterator[Undone]:
    got = reading.steps
    if reading.cause:
        yield Undone(_NAMES[reading.cause], f"the values are {reading.how}", got, wanted)
    yield from _offset(got, wanted, port)
    yield from _quantisation(reading, wanted, port)
    yield from _layout(got, wanted, port)
    yield from _softmax(reading, wanted, port)
    yield from _order(got, wanted, port)


_NAMES = {
    "sign": "uint8/int8 mix",
    "byte order": "byte order",
    "float width": "float16/float32 reading",
    "integer width": "integers of another size",
}


def _offset(got: Steps, wanted: Steps, port: Port) -> Iterator[Undone]:
    half = _HALF.get(port.type, 0)
    if not half:
        return
    for sign, word in ((-1, "higher"), (1, "lower")):
        what = f"every value is {half} {word} than the model's {port.type}"
        yield Undone("uint8/int8 mix", what, got + sign * half, wanted)
    # The highest bit of each value is inverted, as by unsigned arithmetic of the board's type.
    wrapped = (got + half) % (2 * half)
    limits = np.iinfo(port.type)
    other = port.type.removeprefix("u") if limits.min == 0 else f"u{port.type}"
    what = f"the values are {other}, {half} off the model's {port.type}: the highest bit of each byte is inverted"
    signed = wrapped if limits.min == 0 else np.where(wrapped >= half, wrapped - 2 * half, wrapped)
    yield Undone("uint8/int8 mix", what, signed, wanted)


def _quantisation(reading: Reading, wanted: Steps, port: Port) -> Iterator[Undone]:
    if reading.real is None or not is_quantised(port):
        return
    name = "quantisation of the output ignored"
    yield Undone(name, "the floats are the quantised integers themselves", reading.real, wanted)
    yield Undone(name, f"the zero point {port.zero_point} was not subtracted", reading.real / port.scale, wanted)
    yield Undone(
        name, f"the values were not multiplied by the scale {port.scale:.6g}", reading.real + port.zero_point, wanted
    )


def _layout(got: Steps, wanted: Steps, port: Port) -> Iterator[Undone]:
    """Yield the output for memory with its channels, or another axis, elsewhere."""
    shape = port.shape[1:]
    if sum(size > 1 for size in shape) < 2:
        return
    rows = len(got)
    last = len(shape) - 1
    orders = {
        "the last axis comes first in memory": (last, *range(last)),
        "the first axis comes last in memory": (*range(1, last + 1), 0),
    }
    if last == 2:
        orders["height and width are swapped in memory"] = (1, 0, 2)
    for what, order in dict(sorted(orders.items())).items():
        stored = tuple(shape[axis] for axis in order)
        back = tuple(int(axis) for axis in np.argsort(order))
        table = got.reshape(rows, *stored).transpose(0, *(axis + 1 for axis in back)).reshape(rows, -1)
        yield Undone(
            "channel order of the output (NHWC/NCHW)", f"{what}: {list(stored)} for {list(shape)}", table, wanted
        )


def _softmax(reading: Reading, wanted: Steps, port: Port) -> Iterator[Undone]:
    axis = port.shape[-1] if port.shape else 1
    if axis < 2:
        return
    real = (wanted - port.zero_point) * port.scale
    applied = _softmax_of(real, axis)
    is_probability = bool(
        (real.min() >= -port.scale) & (abs(real.reshape(-1, axis).sum(axis=1) - 1) < axis * port.scale + 0.01).all()
    )
    what = (
        "a softmax was applied to the model's softmax"
        if is_probability
        else "a softmax was applied to the model's outputs"
    )
    name = "softmax applied twice" if is_probability else "softmax already applied"
    if reading.real is not None:
        yield Undone(name, what, reading.real / port.scale, applied / port.scale, is_real=True)
    else:
        quantised = np.rint(applied / _SOFTMAX_SCALE) + _SOFTMAX_ZERO
        yield Undone(name, f"{what}, in steps of 1/256 from -128", reading.steps, np.clip(quantised, -128, 127))
    if is_probability and reading.real is not None:
        missing = _softmax_of(reading.real, axis) / port.scale + port.zero_point
        yield Undone("softmax missing", "the values are those in front of the model's softmax", missing, wanted)


def _softmax_of(values: Steps, axis: int) -> Steps:
    with np.errstate(all="ignore"):
        table = values.reshape(-1, axis)
        powers = np.exp(table - table.max(axis=1, keepdims=True))
        made: Steps = (powers / powers.sum(axis=1, keepdims=True)).reshape(values.shape)
    return made


def _order(got: Steps, wanted: Steps, port: Port) -> Iterator[Undone]:
    """Yield the output with its rows, such as boxes, in the reference's order.

    Each captured row is moved to the place of the nearest row of the reference.
    """
    fields = port.shape[-1] if len(port.shape) > 2 else 1
    count = got.shape[1] // max(fields, 1)
    if fields < 2 or not 2 <= count <= _MOST_ROWS:
        return
    ordered = np.empty_like(got)
    moved = 0
    for number, (mine, theirs) in enumerate(zip(got, wanted, strict=True)):
        places = _places(mine.reshape(count, fields), theirs.reshape(count, fields))
        if places is None:
            return
        moved += int((places != np.arange(count)).sum())
        ordered[number].reshape(count, fields)[places] = mine.reshape(count, fields)
    if moved:
        bits = len(got) * float(np.log2(np.arange(1, count + 1)).sum())
        yield Undone(
            "rows of the output in another order",
            f"{moved} of {count * len(got)} rows are elsewhere",
            ordered,
            wanted,
            bits,
            fields=fields,
        )


def _places(got: Steps, wanted: Steps) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None:
    """Return the place of the reference's row for each captured row.

    None means that several captured rows are nearest to one row.
    """
    if not np.isfinite(got).all():
        return None
    # Equal rows are in the same order in both.
    mine, theirs = (np.lexsort(np.round(each).T) for each in (got, wanted))
    if np.abs(got[mine] - wanted[theirs]).max() <= 1:
        places = np.empty(len(got), np.int64)
        places[mine] = theirs
        return places
    distances = np.square(got).sum(1)[:, None] + np.square(wanted).sum(1)[None] - 2 * got @ wanted.T
    places = distances.argmin(axis=1)
    return places if len(set(places.tolist())) == len(places) else None
