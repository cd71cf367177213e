"""DEPTHWISE_CONV_2D with weights that have a zero point.

Models of uint8 have such weights.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure, reads
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, recast
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operators import depthwise_conv_2d
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.weights import SCALING_MEMBERS, WEIGHTS, plain_bias, weights_zero_point
from n6build.compile.reference.windows import WINDOW_MEMBERS

_OUTPUT_CHANNELS = 3  # the axis of the weights

_KERNEL = Kernel(
    "depthwise_conv_2d_asymmetric",
    Structure(
        "n6k_depthwise_conv_2d_asymmetric_t",
        (
            *ENDS,
            Member("weights", reads("int16_t")),
            Member("bias", reads("int32_t")),
            *SCALING_MEMBERS,
            *WINDOW_MEMBERS,
            Member("depth_multiplier", "uint16_t"),
            Member("input_zero_point", "int8_t"),
            Member("range", RANGE),
        ),
        doc="As n6k_depthwise_conv_2d_t, by weights whose zero point was taken from them; nor does the bias hold the input's.",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    weights = operands.required(WEIGHTS)
    assert weights.data is not None
    wide = weights.data.astype(np.int16) - np.int16(weights_zero_point(operands))
    multiplier = weights.shape[3] // operands.source.shape[3]
    changed: dict[str, Argument] = {
        "weights": Constant("int16", wide),
        "bias": Constant("int32", plain_bias(operands, _OUTPUT_CHANNELS).astype(np.int32)),
        "depth_multiplier": multiplier,
    }
    return recast(depthwise_conv_2d.OPERATOR.lower(operands), _KERNEL, changed)


OPERATOR = replace(depthwise_conv_2d.OPERATOR, name="DEPTHWISE_CONV_2D asymmetric", lower=_lower, kernels=(_KERNEL,))
