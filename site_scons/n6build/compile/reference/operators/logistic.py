"""LOGISTIC: 1 / (1 + e^-x)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from n6build.compile.reference.lookup import Float32, exactly, float_table, lookup_operator
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import Problem, check_quantisation_is


def _logistic(x: Float32) -> Float32:
    return np.float32(1) / (np.float32(1) + exactly(np.exp)(-x))


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_quantisation_is(operands.output, 256, -128, "a logistic function")


OPERATOR = lookup_operator("LOGISTIC", "Logistic", float_table(_logistic), check=_check)
