"""Kernels for weights with a zero point, as models that were uint8 have them."""

from __future__ import annotations

import numpy as np

from n6build.network.reference.descriptors import ENDS, Kernel, Member, Structure, reads, writes
from n6build.network.reference.kernel_call import Argument, Constant, KernelCall
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.ranges import RANGE
from n6build.network.reference.weights import SCALING_MEMBERS, WEIGHT_MEMBERS, WEIGHTS, weights_zero_point
from n6build.network.reference.windows import WINDOW_MEMBERS

_ZERO_POINT = Member("weights_zero_point", "int8_t")

CONV_2D = Kernel(
    "conv_2d_asymmetric",
    Structure(
        "n6k_conv_2d_asymmetric_t",
        (
            *ENDS,
            *WEIGHT_MEMBERS,
            *SCALING_MEMBERS,
            Member("scratch", writes("int8_t")),
            *WINDOW_MEMBERS,
            Member("input_zero_point", "int8_t"),
            Member("range", RANGE),
            _ZERO_POINT,
        ),
        doc="As n6k_conv_2d_t, by weights of which weights_zero_point is taken.",
    ),
)
DEPTHWISE_CONV_2D = Kernel(
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
        doc="As n6k_depthwise_conv_2d_t, by weights whose zero point was taken from them.",
    ),
)
FULLY_CONNECTED = Kernel(
    "fully_connected_asymmetric",
    Structure(
        "n6k_fully_connected_asymmetric_t",
        (
            *ENDS,
            *WEIGHT_MEMBERS,
            Member("scale", reads("double")),
            Member("batches", "uint32_t"),
            Member("inputs", "uint32_t"),
            Member("outputs", "uint32_t"),
            Member("range", RANGE),
            _ZERO_POINT,
        ),
        doc="As n6k_fully_connected_t, by weights of which weights_zero_point is taken.",
    ),
)


def with_zero_point(kernel: Kernel, symmetric: KernelCall, operands: Operands) -> KernelCall:
    """The call of CONV_2D or FULLY_CONNECTED for what `symmetric` computes; that one itself where the zero point is 0."""
    zero_point = weights_zero_point(operands)
    if zero_point == 0:
        return symmetric
    return KernelCall(kernel, {**symmetric.arguments, "weights_zero_point": zero_point}, symmetric.macs)


def depthwise_with_zero_point(symmetric: KernelCall, operands: Operands) -> KernelCall:
    """The call of DEPTHWISE_CONV_2D for what `symmetric` computes; that one itself where the zero point is 0."""
    weights = operands.required(WEIGHTS)
    zero_point = required_quantisation(weights).zero_point
    if zero_point == 0:
        return symmetric
    assert weights.data is not None
    wide = Constant("int16", weights.data.astype(np.int16) - np.int16(zero_point))
    arguments: dict[str, Argument] = {**symmetric.arguments, "weights": wide}
    return KernelCall(DEPTHWISE_CONV_2D, arguments, symmetric.macs)
