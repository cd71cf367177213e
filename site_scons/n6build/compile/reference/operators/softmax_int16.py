"""SOFTMAX: softmax of int16 elements over the last dimension."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import Kernel, Member, Structure, reads
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.kernel_call import Constant, KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operators import softmax
from n6build.compile.reference.rules import CONVERT, INT16, QUANTISE, Problem, shown

_STEPS = 512
_RANGE = 65535

_KERNEL = Kernel(
    "softmax_int16",
    Structure(
        "n6k_softmax_int16_t",
        (
            *int16.ENDS,
            Member("exponential", reads("int16_t")),
            Member("reciprocal", reads("int16_t")),
            Member("rows", "uint32_t"),
            Member("depth", "uint32_t"),
            Member("multiplier", "int32_t"),
            Member("left_shift", "int32_t"),
            Member("right_shift", "int32_t"),
        ),
        doc="int16 -> int16 (output scale 1/32768) row by row. exponential: e^x from -10 to 0; reciprocal: 1 / (1 + x) from 0 to "
        "1; 513 entries each.",
    ),
)


def _table(function: Callable[[float], float], least: float, most: float) -> NDArray[np.int16]:
    """Return a table of the function with 15 bits behind the point.

    It is filled as in the reference resolver: each entry is moved by half the error that a line to
    the next entry has in the middle.
    """
    step = (most - least) / _STEPS

    def scaled(position: float) -> float:
        return function(least + position * step) * 32768

    def entry(position: int) -> float:
        value = _away(scaled(position))
        error = _away((scaled(position + 1) + value) / 2) - _away(scaled(position + 0.5))
        return value - _away(error / 2)

    entries = [*(entry(position) for position in range(_STEPS)), _away(scaled(_STEPS))]
    table: NDArray[np.int16] = np.clip(np.array(entries), int16.INT16_MIN, int16.INT16_MAX).astype(np.int16)
    return table


def _away(x: float) -> float:
    """Return x rounded to an integer, halves away from zero."""
    return math.copysign(math.floor(abs(x) + 0.5), x)


def _reciprocal(x: float) -> float:
    return 1 / (1 + x)


def _check(operands: Operands) -> Iterator[Problem]:
    scale = required_quantisation(operands.output).scale
    if not math.isclose(scale, 1 / 32768, rel_tol=1e-6):
        what = f"tensor {shown(operands.output)} has the scale {scale:g}; a softmax of int16 has 1/32768"
        yield Problem("N6-NET-006", what, QUANTISE)
    if operands.first.elements != operands.output.elements or not operands.first.shape:
        yield Problem("N6-NET-007", f"tensor {shown(operands.output)} has another shape than its input", CONVERT)


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, softmax.Options)
    depth = operands.first.shape[-1]
    scale = required_quantisation(operands.first).scale
    multiplier, shift = accumulator_multiplier(scale * options.beta / (10.0 / _RANGE))
    return KernelCall(
        _KERNEL,
        {
            "input": operands.first,
            "output": operands.output,
            "exponential": Constant("int16", _table(math.exp, -10.0, 0.0)),
            "reciprocal": Constant("int16", _table(_reciprocal, 0.0, 1.0)),
            "rows": operands.first.elements // depth,
            "depth": depth,
            "multiplier": multiplier,
            "left_shift": max(shift, 0),
            "right_shift": max(-shift, 0),
        },
    )


OPERATOR = replace(
    softmax.OPERATOR,
    name="SOFTMAX int16",
    rule=replace(softmax.OPERATOR.rule, inputs=(INT16,), output=INT16, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
