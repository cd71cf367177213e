"""Resize: each element repeated, or linear between its neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from n6build.base.errors import N6Error
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.nodes.moving import MOST_SIZE, moved
from n6build.compile.reference.onnx.nodes.reshaping import held
from n6build.compile.reference.onnx.operators.real_resize import Between, ResizeOptions
from n6build.compile.reference.onnx.storage import channels_last
from n6build.compile.reference.onnx.values import Float32, Held, Pending, Target, Value

_LINEAR = (b"half_pixel", b"pytorch_half_pixel", b"align_corners", b"asymmetric")


def _resize(node: Node, building: Building) -> Value:
    """Translate a Resize or Upsample.

    It takes the nearest element, to a whole multiple, or is linear over height and width.
    """
    mode = node.attributes.get("mode", b"nearest")
    if mode == b"linear" and node.type == "Resize":
        return _linear(node, building)
    of = held(node)
    shape = _resized(node, of.shape)
    repeats = all(_repeats(node, given, made) for given, made in zip(of.shape, shape, strict=True))
    if mode != b"nearest" or not repeats:
        raise _not_supported(node, of.shape, shape)
    return moved(node, building, "Enlarge", of, shape, None) if shape != of.shape else of


def _not_supported(node: Node, given: tuple[int, ...], made: tuple[int, ...]) -> N6Error:
    names = ("mode", "coordinate_transformation_mode", "nearest_mode")
    how = [node.attributes.get(name, b"").decode("ascii", "replace") for name in names]
    what = f"resizes {list(given)} to {list(made)} by {how[0] or 'nearest'!a} {how[1:]}"
    hint = (
        "use mode nearest to whole multiples (asymmetric with nearest_mode floor, or half_pixel), or linear over "
        "height and width (half_pixel, align_corners, asymmetric)"
    )
    return node.error("N6-NET-008", what, hint)


def _linear(node: Node, building: Building) -> Value:
    """Translate a linear Resize, in float32."""
    given = node.quantised(0)
    shape, options = neighbours(node, given.shape)
    if shape == given.shape:
        return given
    order = channels_last(4)

    def make(target: Target) -> Held:
        source = building.ordered(given, order)
        limited = replace(options, low=target.low, high=target.high)
        return building.made("Resize", [source.tensor], target, shape, order, limited)

    return Pending(shape, make)


def neighbours(node: Node, given: tuple[int, ...]) -> tuple[tuple[int, ...], ResizeOptions]:
    """Return the output's shape and the neighbours of each of its places.

    Raises:
        N6Error: N6-NET-008 if it is not linear over height and width.
    """
    shape = _resized(node, given)
    mode = node.attributes.get("coordinate_transformation_mode", b"half_pixel")
    plain = not (node.attributes.get("antialias") or node.attributes.get("exclude_outside"))
    if len(shape) != 4 or shape[:2] != given[:2] or mode not in _LINEAR or not plain:
        raise _not_supported(node, given, shape)
    scales = _scales(node, given, shape)
    rows, columns = (_between(mode, given[axis], shape[axis], scales[axis]) for axis in (2, 3))
    return shape, ResizeOptions(-math.inf, math.inf, rows, columns)


def _scales(node: Node, given: tuple[int, ...], made: tuple[int, ...]) -> list[np.float32]:
    """Return the scales of the file, or else the quotients of the sizes."""
    scales = node.optional_constant(2)
    if scales is not None and scales.array.size == len(given):
        return [np.float32(scale) for scale in scales.array.reshape(-1)]
    return [np.float32(size) / np.float32(old) for old, size in zip(given, made, strict=True)]


def _coordinates(mode: bytes, places: Float32, scale: np.float32, given: int, made: int) -> Float32:
    """Return coordinates in the input for places of the output."""
    if made == 1 and mode in (b"align_corners", b"pytorch_half_pixel"):
        return np.zeros(1, np.float32)
    if mode == b"align_corners":
        return places * np.float32(given - 1) / np.float32(made - 1)
    if mode == b"asymmetric":
        return places / scale
    return (places + np.float32(0.5)) / scale - np.float32(0.5)


def _between(mode: bytes, given: int, made: int, scale: np.float32) -> Between:
    """Return the neighbours of each place, computed in float32 step by step.

    A single neighbour counts one half, twice.
    """
    places = np.arange(made, dtype=np.float32)
    found = places if scale == 1 else _coordinates(mode, places, scale, given, made)
    found = np.clip(found.astype(np.float32), np.float32(0), np.float32(given - 1))
    near = np.minimum(found.astype(np.int64), given - 1)
    far = np.minimum(near + 1, given - 1)
    weights = np.stack([np.abs(found - far.astype(np.float32)), np.abs(found - near.astype(np.float32))], axis=1)
    weights[near == far] = 0.5
    pairs = zip(near.tolist(), far.tolist(), strict=True)
    return Between(tuple(pairs), tuple((float(low), float(high)) for low, high in weights))


def _repeats(node: Node, given: int, made: int) -> bool:
    """Return whether each element is repeated equally often along a dimension."""
    if made % given:
        return False
    places = np.arange(made, dtype=np.float64)
    transformation = node.attributes.get("coordinate_transformation_mode", b"half_pixel")
    if node.type == "Upsample" or transformation == b"asymmetric":
        sources = places * given / made
    elif transformation in (b"half_pixel", b"pytorch_half_pixel"):
        sources = (places + 0.5) * given / made - 0.5
    else:
        return made == given
    rounding = b"floor" if node.type == "Upsample" else node.attributes.get("nearest_mode", b"round_prefer_floor")
    functions: dict[bytes, Callable[[np.ndarray], np.ndarray]] = {
        b"floor": np.floor,
        b"ceil": np.ceil,
        b"round_prefer_floor": lambda x: np.ceil(x - 0.5),
        b"round_prefer_ceil": lambda x: np.floor(x + 0.5),
    }
    if rounding not in functions:
        return False
    nearest = np.clip(functions[rounding](sources), 0, given - 1)
    return bool(np.array_equal(nearest, places // (made // given)))


def _resized(node: Node, given: tuple[int, ...]) -> tuple[int, ...]:
    sizes = node.optional_constant(3)
    if sizes is not None and sizes.array.size == len(given):
        made = [int(size) for size in sizes.array.reshape(-1)]
    else:
        scales = node.optional_constant(1 if node.type == "Upsample" else 2)
        if scales is None or scales.array.size != len(given):
            raise node.error("N6-NET-007", "has neither sizes nor scales for every dimension", "export the model again")
        factors = scales.array.reshape(-1).tolist()
        made = [int(np.floor(size * float(factor))) for size, factor in zip(given, factors, strict=True)]
    if min(made) < 1 or max(made) > MOST_SIZE:
        raise node.error("N6-NET-005", f"makes the shape {made}", "export the model again")
    return tuple(made)


FAMILY = NodeFamily({"Resize": _resize, "Upsample": _resize})
