"""Functions of one element.

Operators:
    ABS: the magnitude; input and output may have different scales.
    ELU: e^x - 1 for negative values.
    EXP: e^x.
    FLOOR: elements rounded down to whole numbers, in float32.
    GELU: x times the share of the normal distribution below x. It uses the error function or its
        approximation by a hyperbolic tangent.
    LEAKY_RELU: negative values times alpha. Input and output may have different scales.
    LEAKY_RELU int16: the same for int16.
    LOG: the natural logarithm. For 0 and below it is the lowest element, as in the reference
        resolver.
    LOGICAL_NOT: true becomes false, false becomes true.
    LOGISTIC: 1 / (1 + e^-x).
    RELU: negative values become 0; input and output may have different scales.
    RELU6: values clamped to 0 to 6; input and output may have different scales.
    RELU_0_TO_1: values clamped to 0 to 1. Input and output may have different scales.
    RELU_N1_TO_1: values clamped to -1 to 1. Input and output may have different scales.
    SQRT: the square root, truncated to whole steps of the output. The reference resolver stops at a
        negative number. Here the result is then that of 0.
    SQUARE: x * x, in float32.
    TANH: the hyperbolic tangent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import tflite
from numpy.typing import NDArray

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import Member, kernel_with, of_type
from n6build.compile.reference.fixed_point import INT8_MAX, INT8_MIN, accumulator_multiplier, signed_multiplier
from n6build.compile.reference.float32 import float_function
from n6build.compile.reference.kernel_call import KernelCall, element_arguments
from n6build.compile.reference.lookup import (
    LOOKUP,
    Float32,
    clamped,
    exactly,
    float_table,
    integer_table,
    lookup_call,
    lookup_operator,
    real_inputs,
    rescaling,
    saturated,
)
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind, also_of
from n6build.compile.reference.reference_options import OptionsReader, UnsupportedError
from n6build.compile.reference.rules import BOOL, INT16, Problem, Rule, check_elementwise, check_quantisation_is


def _magnitudes(operands: Operands) -> NDArray[np.int8]:
    scaled = rescaling(operands)
    return integer_table(operands, lambda x: scaled(abs(x)))


def _roots(operands: Operands) -> NDArray[np.int8]:
    target = required_quantisation(operands.output)
    steps = np.sqrt(np.maximum(real_inputs(operands), 0)) / np.float32(target.scale)
    return saturated(np.trunc(steps) + np.float32(target.zero_point))


def _logistic(x: Float32) -> Float32:
    return np.float32(1) / (np.float32(1) + exactly(np.exp)(-x))


def _elu(x: Float32) -> Float32:
    return np.where(x < 0, exactly(np.exp)(np.minimum(x, np.float32(0))) - np.float32(1), x)


def _check_logistic(operands: Operands) -> Iterator[Problem]:
    yield from check_quantisation_is(operands.output, 256, -128, "a logistic function")


def _check_tanh(operands: Operands) -> Iterator[Problem]:
    yield from check_quantisation_is(operands.output, 128, 0, "a hyperbolic tangent")


def _lower_not(operands: Operands) -> KernelCall:
    return lookup_call(operands, (np.arange(INT8_MIN, INT8_MAX + 1) == 0).astype(np.int8))


# LEAKY_RELU


def _read_alpha(table: tflite.LeakyReluOptions) -> float:
    alpha = float(table.Alpha())
    if not math.isfinite(alpha):
        raise UnsupportedError(f"alpha is {alpha}", "set alpha to a finite number")
    return alpha


def _leaky_relu(operands: Operands) -> NDArray[np.int8]:
    positive, negative = rescaling(operands), rescaling(operands, operands.options(float))
    return integer_table(operands, lambda x: positive(x) if x >= 0 else negative(x))


_LEAKY_INT16 = kernel_with(
    "leaky_relu_int16",
    *int16.ENDS,
    Member("elements", "uint32_t"),
    *of_type("int32_t", "multiplier", "shift", "negative_multiplier", "negative_shift"),
    doc="int16 -> int16: each element is scaled as by convolutions of int8, a negative one by the other factor.",
    in_place=("input",),
)


def _lower_leaky_int16(operands: Operands) -> KernelCall:
    given, target = required_quantisation(operands.first).scale, required_quantisation(operands.output).scale
    identity = np.float32(given) / np.float32(target)
    alpha = np.float32(given) * np.float32(operands.options(float)) / np.float32(target)
    multiplier, shift = accumulator_multiplier(float(identity))
    negative_multiplier, negative_shift = signed_multiplier(float(alpha))
    return KernelCall(
        _LEAKY_INT16,
        {
            **element_arguments(operands),
            "multiplier": multiplier,
            "shift": shift,
            "negative_multiplier": negative_multiplier,
            "negative_shift": negative_shift,
        },
    )


# GELU


def _read_approximate(table: tflite.GeluOptions) -> bool:
    return bool(table.Approximate())


def _erfc(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([math.erfc(value) for value in x])


def _exact_gelu(x: Float32) -> Float32:
    return np.float32(0.5) * x * exactly(_erfc)(x * np.float32(-math.sqrt(0.5)))


def _approximated_gelu(x: Float32) -> Float32:
    inner = np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * x * x * x)
    return np.float32(0.5) * x * (np.float32(1) + exactly(np.tanh)(inner))


def _gelu(operands: Operands) -> NDArray[np.int8]:
    return float_table(_approximated_gelu if operands.options(bool) else _exact_gelu)(operands)


_LEAKY_RELU_OPTIONS = OptionsReader(tflite.LeakyReluOptions, _read_alpha)
_GELU_OPTIONS = OptionsReader(tflite.GeluOptions, _read_approximate)
_NOT_RULE = Rule(inputs=(BOOL,), required=1, constants=(), output=BOOL, check=check_elementwise)
OPERATORS = (
    also_of(lookup_operator("ABS", "Abs", _magnitudes), float_function("ABS", "Abs")),
    lookup_operator("ELU", "Elu", float_table(_elu)),
    lookup_operator("EXP", "Exp", float_table(exactly(np.exp))),
    float_function("FLOOR", "Floor"),
    lookup_operator("GELU", "Gelu", _gelu, _GELU_OPTIONS),
    lookup_operator("LEAKY_RELU", "LeakyRelu", _leaky_relu, _LEAKY_RELU_OPTIONS),
    OperatorKind(
        "LEAKY_RELU int16",
        "LeakyRelu",
        Rule((INT16,), 1, (), INT16, check_elementwise),
        _lower_leaky_int16,
        (_LEAKY_INT16,),
        _LEAKY_RELU_OPTIONS,
    ),
    lookup_operator("LOG", "Log", float_table(exactly(np.log))),
    OperatorKind("LOGICAL_NOT", "LogicalNot", _NOT_RULE, _lower_not, (LOOKUP,)),
    lookup_operator("LOGISTIC", "Logistic", float_table(_logistic), check=_check_logistic),
    also_of(lookup_operator("RELU", "Relu", clamped("RELU")), float_function("RELU", "Relu")),
    also_of(lookup_operator("RELU6", "Relu6", clamped("RELU6")), float_function("RELU6", "Relu6")),
    lookup_operator("RELU_0_TO_1", "Relu0To1", clamped("RELU_0_TO_1")),
    lookup_operator("RELU_N1_TO_1", "ReluN1To1", clamped("RELU_N1_TO_1")),
    also_of(lookup_operator("SQRT", "Sqrt", _roots), float_function("SQRT", "Sqrt")),
    float_function("SQUARE", "Square"),
    lookup_operator("TANH", "Tanh", float_table(exactly(np.tanh)), check=_check_tanh),
)
