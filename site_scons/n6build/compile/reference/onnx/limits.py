"""Limits of the real numbers of an int8 output, and operators with these limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from n6build.compile.reference.descriptors import Member, of_type
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, fields_of
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.ranges import RANGE

# Members of a descriptor, in this order.
REAL_MEMBERS = (
    *of_type("float", "input_scale", "output_scale"),
    Member("input_zero_point", "int8_t"),
    Member("range", RANGE),
)


@dataclass(frozen=True)
class LimitOptions:
    """Limits of the real numbers of an operator's output.

    Options with further fields inherit them.

    Attributes:
        low: Lower limit, minus infinity without one.
        high: Upper limit, infinity without one.
    """

    low: float
    high: float


NO_LIMITS = LimitOptions(-math.inf, math.inf)


def limited_range(output: Tensor, limits: LimitOptions = NO_LIMITS) -> Fields:
    """Return the fields of a member of type RANGE."""
    quantisation = required_quantisation(output)

    def element(limit: float, otherwise: int) -> int:
        if math.isinf(limit):
            return otherwise
        steps = np.rint(np.float32(limit) / np.float32(quantisation.scale))
        return int(np.clip(float(steps) + quantisation.zero_point, -128, 127))

    low, high = element(limits.low, -128), element(limits.high, 127)
    return fields_of(RANGE, {"zero_point": quantisation.zero_point, "clamp_min": low, "clamp_max": high})


def real_arguments(operands: Operands) -> dict[str, Argument]:
    """Return the arguments for REAL_MEMBERS of an operator with LimitOptions."""
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    return {
        "input_scale": given.scale,
        "output_scale": target.scale,
        "input_zero_point": given.zero_point,
        "range": limited_range(operands.output, operands.options(LimitOptions)),
    }
