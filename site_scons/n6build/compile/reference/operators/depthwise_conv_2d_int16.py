"""DEPTHWISE_CONV_2D with int16 activations and int8 weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import Kernel, Member, Structure
from n6build.compile.reference.kernel_call import KernelCall, recast
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operators import depthwise_conv_2d
from n6build.compile.reference.rules import INT8, INT16, INT64, Problem, shown
from n6build.compile.reference.weights import WEIGHTS
from n6build.compile.reference.windows import WINDOW_MEMBERS, window_options

_OUTPUT_CHANNELS = 3  # the axis of the weights
# Up to this sum of absolute weights, sums of products with any int16 stay below 2^31.
_MOST = 65535

_KERNEL = Kernel(
    "depthwise_conv_2d_int16",
    Structure(
        "n6k_depthwise_conv_2d_int16_t",
        (
            *int16.ENDS,
            *int16.WEIGHT_MEMBERS,
            *int16.SCALING_MEMBERS,
            *WINDOW_MEMBERS,
            Member("depth_multiplier", "uint16_t"),
            Member("range", int16.RANGE),
        ),
        doc="weights [window height][window width][output channel]; a channel's absolute weights are at most 65535 together.",
    ),
)


def _check(operands: Operands) -> Iterator[Problem]:
    yield from depthwise_conv_2d.OPERATOR.rule.check(operands)
    weights = operands.required(WEIGHTS)
    assert weights.data is not None
    largest = int(np.abs(weights.data.astype(np.int32)).sum(axis=(0, 1, 2)).max())
    if largest > _MOST:
        what = f"the absolute weights of a channel of {shown(weights)} sum up to {largest}, more than {_MOST}"
        yield Problem("N6-NET-007", what, "use a smaller window, for example of 516 taps, which always fits")


def _lower(operands: Operands) -> KernelCall:
    changed = {
        **int16.convolution_arguments(operands, _OUTPUT_CHANNELS),
        "depth_multiplier": operands.required(WEIGHTS).shape[3] // operands.source.shape[3],
        "range": int16.output_range(operands.output, window_options(operands).activation),
    }
    return recast(depthwise_conv_2d.OPERATOR.lower(operands), _KERNEL, changed)


OPERATOR = replace(
    depthwise_conv_2d.OPERATOR,
    name="DEPTHWISE_CONV_2D int16",
    rule=replace(depthwise_conv_2d.OPERATOR.rule, inputs=(INT16, INT8, INT64), output=INT16, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
