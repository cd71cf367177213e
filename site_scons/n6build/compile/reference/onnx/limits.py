"""The range of an int8 output whose real numbers are limited."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import fields_of
from n6build.compile.reference.operands import required_quantisation
from n6build.compile.reference.ranges import RANGE


@dataclass(frozen=True)
class LimitOptions:
    """Limits of the real numbers of an operator's output.

    Attributes:
        low: Lower limit.
        high: Upper limit.
    """

    low: float
    high: float


def limited_range(output: Tensor, low: float, high: float) -> Fields:
    """Return the fields of a member of type RANGE.

    Args:
        output: Output of the operator.
        low: Lower limit of the real numbers, minus infinity without one.
        high: Upper limit of the real numbers, infinity without one.
    """
    quantisation = required_quantisation(output)

    def element(limit: float, otherwise: int) -> int:
        if math.isinf(limit):
            return otherwise
        steps = np.rint(np.float32(limit) / np.float32(quantisation.scale))
        return int(np.clip(float(steps) + quantisation.zero_point, -128, 127))

    return fields_of(
        RANGE,
        {"zero_point": quantisation.zero_point, "clamp_min": element(low, -128), "clamp_max": element(high, 127)},
    )
