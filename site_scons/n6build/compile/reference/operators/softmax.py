"""Softmax over the last dimension, and its logarithm.

Operators:
    LOG_SOFTMAX: the logarithm of softmax over the last dimension.
    SOFTMAX: softmax over the last dimension.
    SOFTMAX int16: softmax of int16 elements over the last dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import tflite
from numpy.typing import NDArray

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import ROWS, kernel_with, of_type, reads
from n6build.compile.reference.fixed_point import accumulator_multiplier, exponent_scaling, quantize_multiplier
from n6build.compile.reference.kernel_call import Constant, KernelCall, ends, row_arguments
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader, UnsupportedError
from n6build.compile.reference.rules import (
    CONVERT,
    INT8,
    INT16,
    QUANTISE,
    Problem,
    Rule,
    check_elementwise,
    check_quantisation_is,
    shown,
)

_KERNEL = kernel_with(
    "softmax",
    *ROWS,
    *of_type("int32_t", "multiplier", "left_shift", "diff_min"),
    doc="int8 -> int8 (output scale 1/256, zero point -128) row by row, in the fixed point of the reference resolver, "
    "which ends the program where a row's sum of exponentials reaches 512; here such a row becomes -128 throughout.",
)


def _read(table: tflite.SoftmaxOptions) -> float:
    """Return beta, the factor of the exponents."""
    beta = float(table.Beta())
    if not math.isfinite(beta) or beta <= 0:
        raise UnsupportedError(f"beta is {beta}", "set beta to a positive number")
    return beta


def _check_rows(operands: Operands) -> Iterator[Problem]:
    if operands.first.elements != operands.output.elements or not operands.first.shape:
        yield Problem("N6-NET-007", f"tensor {shown(operands.output)} has another shape than its input", CONVERT)


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_quantisation_is(operands.output, 256, -128, "a softmax")
    yield from _check_rows(operands)


def _lower(operands: Operands) -> KernelCall:
    scaling = exponent_scaling(operands.options(float) * required_quantisation(operands.first).scale)
    return KernelCall(
        _KERNEL,
        {
            **row_arguments(operands),
            "multiplier": scaling.multiplier,
            "left_shift": scaling.left_shift,
            "diff_min": scaling.diff_min,
        },
    )


_LOG = kernel_with(
    "log_softmax",
    *ROWS,
    *of_type("int32_t", "multiplier", "left_shift", "reverse_multiplier", "reverse_shift", "diff_min"),
    doc="int8 -> int8 (output scale 1/16, zero point 127) row by row, in the fixed point of the reference resolver. The "
    "reverse scaling leads from logarithms to differences of input elements.",
)


def _check_log(operands: Operands) -> Iterator[Problem]:
    yield from check_elementwise(operands)
    yield from check_quantisation_is(operands.output, 16, 127, "a log softmax")


def _lower_log(operands: Operands) -> KernelCall:
    scaling = exponent_scaling(required_quantisation(operands.first).scale)
    reverse_multiplier, reverse_shift = quantize_multiplier((1 << (31 - scaling.left_shift)) / scaling.multiplier)
    return KernelCall(
        _LOG,
        {
            **row_arguments(operands),
            "multiplier": scaling.multiplier,
            "left_shift": scaling.left_shift,
            "reverse_multiplier": reverse_multiplier,
            "reverse_shift": reverse_shift,
            "diff_min": scaling.diff_min,
        },
    )


# int16

_STEPS = 512
_RANGE = 65535
# Elements of a row whose exponentials, at most 2^15 - 1 each, have a sum that fits into int32, as the reference resolver assumes.
_LONGEST_ROW = ((1 << 31) - 1) // ((1 << 15) - 1)

_INT16 = kernel_with(
    "softmax_int16",
    *int16.ENDS,
    *of_type(reads("int16_t"), "exponential", "reciprocal"),
    *of_type("uint32_t", "rows", "depth"),
    *of_type("int32_t", "multiplier", "left_shift", "right_shift"),
    doc="int16 -> int16 (output scale 1/32768) row by row. exponential: e^x from -10 to 0; reciprocal: 1 / (1 + x) from 0 to "
    "1; 513 entries each.",
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


def _check_int16(operands: Operands) -> Iterator[Problem]:
    scale = required_quantisation(operands.output).scale
    if not math.isclose(scale, 1 / 32768, rel_tol=1e-6):
        what = f"tensor {shown(operands.output)} has the scale {scale:g}; a softmax of int16 has 1/32768"
        yield Problem("N6-NET-006", what, QUANTISE)
    if operands.first.shape and operands.first.shape[-1] > _LONGEST_ROW:
        what = f"a softmax of int16 over {operands.first.shape[-1]} elements overflows"
        yield Problem("N6-NET-007", what, f"use at most {_LONGEST_ROW} in the last dimension")
    yield from _check_rows(operands)


def _lower_int16(operands: Operands) -> KernelCall:
    depth = operands.first.shape[-1]
    scale = required_quantisation(operands.first).scale
    # The reference resolver multiplies in float32 and divides in double.
    exponent = float(np.float32(scale) * np.float32(operands.options(float)))
    multiplier, shift = accumulator_multiplier(exponent / (10.0 / _RANGE))
    return KernelCall(
        _INT16,
        {
            **ends(operands),
            "exponential": Constant("int16", _table(math.exp, -10.0, 0.0)),
            "reciprocal": Constant("int16", _table(_reciprocal, 0.0, 1.0)),
            "rows": operands.first.elements // depth,
            "depth": depth,
            "multiplier": multiplier,
            "left_shift": max(shift, 0),
            "right_shift": max(-shift, 0),
        },
    )


_OPTIONS = OptionsReader(tflite.SoftmaxOptions, _read)
OPERATORS = (
    OperatorKind("LOG_SOFTMAX", "LogSoftmax", Rule((INT8,), 1, (), INT8, _check_log), _lower_log, (_LOG,)),
    OperatorKind("SOFTMAX", "Softmax", Rule((INT8,), 1, (), INT8, _check), _lower, (_KERNEL,), _OPTIONS),
    OperatorKind(
        "SOFTMAX int16", "Softmax", Rule((INT16,), 1, (), INT16, _check_int16), _lower_int16, (_INT16,), _OPTIONS
    ),
)
