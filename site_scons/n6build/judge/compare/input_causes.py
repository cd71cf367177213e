"""Causes that change an input before the network computes.

The reference computes with each of them, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.judge.compare.tensors import Port

Values = NDArray[Any]
# Mean and deviation of ImageNet, as in torchvision.
_MEAN = np.array([0.485, 0.456, 0.406])
_STD = np.array([0.229, 0.224, 0.225])
# Values with fewer grey levels may be no picture.
_LEAST_LEVELS = 16
# Most unrelated inputs of one kind.
_MOST_OF_A_KIND = 6


@dataclass(frozen=True)
class ChangedInput:
    """An input as a board may have received it.

    Attributes:
        cause: Name of the cause.
        what: Event on the board, for people.
        values: Values of all vectors, in the type of the model.
    """

    cause: str
    what: str
    values: Values


@dataclass(frozen=True)
class _Range:
    """A rule that turns grey levels from 0 to 255 into numbers."""

    name: str
    of_levels: Callable[[Values], Values]
    to_levels: Callable[[Values], Values]
    channels: int = 0


_RANGES = (
    _Range("0 to 255", lambda levels: levels, lambda real: real),
    _Range("0 to 1 (divided by 255)", lambda levels: levels / 255, lambda real: real * 255),
    _Range("-1 to 1", lambda levels: levels / 127.5 - 1, lambda real: (real + 1) * 127.5),
    _Range("-128 to 127", lambda levels: levels - 128, lambda real: real + 128),
    _Range(
        "mean 0 and deviation 1 (of ImageNet)",
        lambda levels: (levels / 255 - _MEAN) / _STD,
        lambda real: (real * _STD + _MEAN) * 255,
        3,
    ),
)


def changed_inputs(values: Values, port: Port, *, channels_last: bool) -> list[ChangedInput]:
    """Return an input with each possible cause; causes without an effect are left out.

    Args:
        values: Values of all vectors, along the first axis.
        port: The input.
        channels_last: True if the model has its channels last.
    """
    found: list[ChangedInput] = []
    for each in _changed(values, port, channels_last=channels_last):
        same = (each.values.tobytes() == other.values.tobytes() for other in found)
        if each.values.tobytes() != values.tobytes() and not any(same):
            found.append(each)
    return found


def unrelated_inputs(values: Values, port: Port) -> Values:
    """Return inputs that are unrelated to those of a board.

    They are noise, the same values elsewhere, and one value everywhere.

    Args:
        values: Values of all vectors.
        port: The input.
    """
    is_whole = values.dtype.kind in "iu"
    flat = values.reshape(len(values), -1)[:_MOST_OF_A_KIND].astype(np.float64)
    size = flat.shape[1]
    low, high = (
        (float(np.iinfo(values.dtype).min), float(np.iinfo(values.dtype).max)) if is_whole else (flat.min(), flat.max())
    )
    order = np.argsort(_noise("order", 1, size)[0], kind="stable")
    wide = low + _noise("noise", _MOST_OF_A_KIND, size) * (high - low)
    level = float(port.zero_point)
    constants = [np.full(size, low + (high - low) * share) for share in (0.25, 0.5, 0.75, 1.0)]
    table = np.stack([*wide, *((wide - level) / 8 + level), *flat[:, order], *((flat - level) / 2 + level), *constants])
    made: Values = np.clip(np.rint(table) if is_whole else table, low, high).astype(values.dtype)
    return made.reshape(-1, *values.shape[1:])


def _noise(seed: str, rows: int, size: int) -> NDArray[np.float64]:
    """Return numbers from 0 to 1, the same on every machine."""
    data = hashlib.shake_256(f"n6build unrelated {seed}".encode()).digest(4 * rows * size)
    return np.frombuffer(data, "<u4").reshape(rows, size) / float(1 << 32)


def _changed(values: Values, port: Port, *, channels_last: bool) -> Iterator[ChangedInput]:
    rows, shape = len(values), port.shape[1:]
    yield ChangedInput("input never written", "the input is all zeros", np.zeros_like(values))
    if values.dtype.itemsize == 1 and values.dtype.kind in "iu":
        shifted = (values.view(np.uint8) ^ 0x80).view(values.dtype)
        yield ChangedInput(
            "uint8/int8 mix of the input", "every value of the input is 128 too high or too low", shifted
        )
    if values.dtype.itemsize > 1:
        yield ChangedInput(
            "byte order of the input", "the bytes of each number of the input are swapped", values.byteswap()
        )
    if len(shape) == 3:
        table = values.reshape(rows, *shape)
        for what, order in (
            ("the input was written with channels first for a network that reads them last", (0, 3, 1, 2)),
            ("the input was written with channels last for a network that reads them first", (0, 2, 3, 1)),
            ("height and width of the input are swapped", (0, 2, 1, 3) if channels_last else (0, 1, 3, 2)),
        ):
            moved = np.ascontiguousarray(table.transpose(order)).reshape(values.shape)
            yield ChangedInput("channel order of the input (NHWC/NCHW)", what, moved)
        axis = 3 if channels_last else 1
        if table.shape[axis] == 3:
            flipped = np.ascontiguousarray(np.flip(table, axis)).reshape(values.shape)
            yield ChangedInput("RGB/BGR", "the first and the last channel of the input are swapped", flipped)
    yield from _scaled(values, port, channels_last=channels_last)


def _scaled(values: Values, port: Port, *, channels_last: bool) -> Iterator[ChangedInput]:
    """Yield inputs with another normalisation, or without quantisation."""
    real = (values.astype(np.float64) - port.zero_point) * port.scale
    if values.dtype.kind in "iu":
        name = "quantisation of the input ignored"
        for what, steps in (
            ("real numbers were stored as integers, without scale and zero point", real),
            ("the zero point of the input was not added", real / port.scale),
            ("real numbers were not divided by the scale of the input", real + port.zero_point),
        ):
            yield ChangedInput(name, what, _integers(steps, values))
    for levels, rule in _levels(real, port, channels_last=channels_last):
        if values.dtype.kind in "iu":
            name = "quantisation of the input ignored"
            for what, steps in (
                ("grey levels were stored as they are", levels),
                ("128 was subtracted from grey levels, in place of the quantisation", levels - 128),
            ):
                yield ChangedInput(name, what, _integers(steps, values))
            as_bytes = np.clip(np.rint(levels), 0, 255).astype(np.uint8)
            if values.dtype == np.int8:
                yield ChangedInput(name, "grey levels were copied as bytes of 0 to 255", as_bytes.view(np.int8))
        for other in _RANGES:
            if other is rule or (other.channels and not _has_channels(port, other, channels_last=channels_last)):
                continue
            made = _by_channel(other.of_levels, levels, port, other, channels_last=channels_last)
            what = f"the input was scaled to {other.name} in place of {rule.name}"
            if values.dtype.kind == "f":
                yield ChangedInput("normalisation of the input", what, made.astype(values.dtype))
            else:
                steps = made / port.scale + port.zero_point
                yield ChangedInput("normalisation of the input", what, _integers(steps, values))


def _levels(real: Values, port: Port, *, channels_last: bool) -> Iterator[tuple[Values, _Range]]:
    """Yield grey levels that the input may be made from, each with its range."""
    for rule in _RANGES:
        if rule.channels and not _has_channels(port, rule, channels_last=channels_last):
            continue
        levels = _by_channel(rule.to_levels, real, port, rule, channels_last=channels_last)
        if levels.min() >= -2 and levels.max() <= 257 and levels.max() - levels.min() >= _LEAST_LEVELS:
            yield levels, rule


def _has_channels(port: Port, rule: _Range, *, channels_last: bool) -> bool:
    shape = port.shape[1:]
    return len(shape) == 3 and shape[-1 if channels_last else 0] == rule.channels


def _by_channel(
    function: Callable[[Values], Values], values: Values, port: Port, rule: _Range, *, channels_last: bool
) -> Values:
    if not rule.channels:
        return function(values)
    table = values.reshape(len(values), *port.shape[1:])
    last = table if channels_last else np.moveaxis(table, 1, -1)
    made = function(last)
    return (made if channels_last else np.moveaxis(made, -1, 1)).reshape(values.shape)


def _integers(steps: Values, like: Values) -> Values:
    limits = np.iinfo(like.dtype)
    return np.clip(np.rint(steps), limits.min, limits.max).astype(like.dtype)
