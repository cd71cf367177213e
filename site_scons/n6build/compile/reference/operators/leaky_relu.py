"""LEAKY_RELU: negative values times alpha.

Input and output may have different scales.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import tflite
from numpy.typing import NDArray

from n6build.compile.reference.lookup import integer_table, lookup_operator, rescaling
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.reference_options import OptionsReader, UnsupportedError


@dataclass(frozen=True)
class _Options:
    alpha: float


def _read(table: tflite.LeakyReluOptions) -> _Options:
    alpha = float(table.Alpha())
    if not math.isfinite(alpha):
        raise UnsupportedError(f"alpha is {alpha}", "set alpha to a finite number")
    return _Options(alpha)


def _table(operands: Operands) -> NDArray[np.int8]:
    options = operands.operator.options
    assert isinstance(options, _Options)
    positive, negative = rescaling(operands), rescaling(operands, options.alpha)
    return integer_table(operands, lambda x: positive(x) if x >= 0 else negative(x))


_READER = OptionsReader(tflite.LeakyReluOptions, tflite.BuiltinOptions.LeakyReluOptions, _read)
OPERATOR = lookup_operator("LEAKY_RELU", "LeakyRelu", _table, _READER)
