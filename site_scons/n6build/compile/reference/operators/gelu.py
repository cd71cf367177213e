"""GELU: x times the share of the normal distribution below x.

It uses the error function or its approximation by a hyperbolic tangent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import tflite
from numpy.typing import NDArray

from n6build.compile.reference.lookup import Float32, exactly, float_table, lookup_operator
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.reference_options import OptionsReader


@dataclass(frozen=True)
class _Options:
    approximate: bool


def _read(table: tflite.GeluOptions) -> _Options:
    return _Options(bool(table.Approximate()))


def _erfc(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([math.erfc(value) for value in x])


def _gelu(x: Float32) -> Float32:
    return np.float32(0.5) * x * exactly(_erfc)(x * np.float32(-math.sqrt(0.5)))


def _approximated(x: Float32) -> Float32:
    inner = np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * x * x * x)
    return np.float32(0.5) * x * (np.float32(1) + exactly(np.tanh)(inner))


def _table(operands: Operands) -> NDArray[np.int8]:
    options = operands.operator.options
    assert isinstance(options, _Options)
    return float_table(_approximated if options.approximate else _gelu)(operands)


_READER = OptionsReader(tflite.GeluOptions, tflite.BuiltinOptions.GeluOptions, _read)
OPERATOR = lookup_operator("GELU", "Gelu", _table, _READER)
