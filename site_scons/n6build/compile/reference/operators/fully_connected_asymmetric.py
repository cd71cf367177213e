"""FULLY_CONNECTED with weights that have a zero point.

Models of uint8 have such weights.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure, reads
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, recast
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operators import fully_connected
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.weights import WEIGHT_MEMBERS, real_scales, weights_zero_point

_OUTPUTS = 0  # the axis of the weights

_KERNEL = Kernel(
    "fully_connected_asymmetric",
    Structure(
        "n6k_fully_connected_asymmetric_t",
        (
            *ENDS,
            *WEIGHT_MEMBERS,
            Member("scale", reads("double")),
            *(Member(name, "uint32_t") for name in ("batches", "inputs", "outputs")),
            Member("weights_zero_point", "int8_t"),
            Member("range", RANGE),
        ),
        doc="As n6k_fully_connected_t, by weights of which weights_zero_point is taken; a scale for each output.",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    scale = Constant("float64", np.array(real_scales(operands, _OUTPUTS)))
    changed: dict[str, Argument] = {"scale": scale, "weights_zero_point": weights_zero_point(operands)}
    return recast(fully_connected.OPERATOR.lower(operands), _KERNEL, changed)


OPERATOR = replace(fully_connected.OPERATOR, name="FULLY_CONNECTED asymmetric", lower=_lower, kernels=(_KERNEL,))
