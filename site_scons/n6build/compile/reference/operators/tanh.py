"""TANH: the hyperbolic tangent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from n6build.compile.reference.lookup import exactly, float_table, lookup_operator
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import Problem, check_quantisation_is


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_quantisation_is(operands.output, 128, 0, "a hyperbolic tangent")


OPERATOR = lookup_operator("TANH", "Tanh", float_table(exactly(np.tanh)), check=_check)
