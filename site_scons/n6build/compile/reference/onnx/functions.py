"""Functions of one element, as tables of 256 results.

The results are computed in float32 when the model is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.values import Float32, Held, Pending, Target


def real_elements(held: Held) -> Float32:
    """Return the real numbers of the elements -128 to 127."""
    quantisation = held.tensor.quantisation
    assert quantisation is not None
    integers = np.arange(-128, 128) - quantisation.zero_point
    return (integers.astype(np.float32) * np.float32(quantisation.scale)).astype(np.float32)


def pending_function(building: Building, value: Held | Pending, function: Callable[[Float32], Float32]) -> Pending:
    """Return a function of one element, which is not quantised yet.

    Args:
        building: Graph that gets the operator.
        value: Quantised tensor, or already a function of the elements of one.
        function: Function of real numbers.
    """
    if isinstance(value, Held):
        source, results = value, real_elements(value)
    else:
        assert value.source is not None and value.function is not None
        source, results = value.source, value.function
    with np.errstate(all="ignore"):
        results = function(np.clip(results, *_limits(value))).astype(np.float32)

    def make(target: Target) -> Held:
        return building.made(
            "QLinearFunction",
            [source.tensor],
            target,
            source.shape,
            source.order,
            quantised(np.clip(results, np.float32(target.low), np.float32(target.high)), target),
        )

    def make_real(name: str) -> Held:
        held = building.ordered(source, source.order)
        output = building.tensor(name, "float32", held.tensor.shape)
        table = tuple(float(result) for result in results)
        made = building.operator("RealFunction", [held.tensor], output, table)
        return Held(made, source.shape, source.order)

    return Pending(source.shape, make, source=replace(source, real=True), function=results, make_real=make_real)


def _limits(value: Held | Pending) -> tuple[np.float32, np.float32]:
    low, high = (value.low, value.high) if isinstance(value, Pending) else (-np.inf, np.inf)
    return np.float32(low), np.float32(high)


def quantised(numbers: Float32, target: Target) -> tuple[int, ...]:
    """Return numbers as integers of the target's quantisation.

    They are rounded to the nearest integer, halves to even, and saturated. Not a number becomes the
    zero point.
    """
    quantisation = target.quantisation
    with np.errstate(all="ignore"):
        steps = np.nan_to_num(np.rint(numbers / np.float32(quantisation.scale)), nan=0.0, posinf=1e6, neginf=-1e6)
    steps = np.clip(steps.astype(np.float64) + quantisation.zero_point, -128, 127)
    return tuple(int(step) for step in steps)


def is_function(value: object) -> bool:
    """Return whether a value depends on one element of one quantised tensor."""
    if isinstance(value, Held):
        return value.real
    return isinstance(value, Pending) and value.function is not None
