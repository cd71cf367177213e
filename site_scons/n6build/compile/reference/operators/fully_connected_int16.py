"""FULLY_CONNECTED with int16 activations and int8 weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import Kernel, Member, Structure, reads
from n6build.compile.reference.kernel_call import Constant, KernelCall, recast
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operators import fully_connected
from n6build.compile.reference.ranges import ActivationOptions
from n6build.compile.reference.rules import INT8, INT16, INT64
from n6build.compile.reference.weights import real_scales

_OUTPUTS = 0  # the axis of the weights

_KERNEL = Kernel(
    "fully_connected_int16",
    Structure(
        "n6k_fully_connected_int16_t",
        (
            *int16.ENDS,
            *int16.WEIGHT_MEMBERS,
            Member("scale", reads("double")),
            Member("batches", "uint32_t"),
            Member("inputs", "uint32_t"),
            Member("outputs", "uint32_t"),
            Member("range", int16.RANGE),
        ),
        doc="As n6k_fully_connected_t, with 64-bit accumulators.",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, ActivationOptions)
    changed = {
        **int16.weight_arguments(operands, _OUTPUTS),
        "scale": Constant("float64", np.array(real_scales(operands, _OUTPUTS))),
        "range": int16.output_range(operands.output, options.activation),
    }
    return recast(fully_connected.OPERATOR.lower(operands), _KERNEL, changed)


OPERATOR = replace(
    fully_connected.OPERATOR,
    name="FULLY_CONNECTED int16",
    rule=replace(fully_connected.OPERATOR.rule, inputs=(INT16, INT8, INT64), output=INT16),
    lower=_lower,
    kernels=(_KERNEL,),
)
