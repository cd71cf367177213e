"""FULLY_CONNECTED with int16 activations and int8 weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from n6build.network.reference import int16
from n6build.network.reference.descriptors import Kernel, Member, Structure, reads
from n6build.network.reference.kernel_call import Constant, KernelCall
from n6build.network.reference.operands import Operands
from n6build.network.reference.operators import fully_connected
from n6build.network.reference.ranges import ActivationOptions
from n6build.network.reference.rules import INT8, INT16, INT64
from n6build.network.reference.weights import WEIGHTS, real_scales

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
    outputs, inputs = operands.required(WEIGHTS).shape
    return KernelCall(
        _KERNEL,
        {
            "input": operands.source,
            "output": operands.output,
            **int16.weight_arguments(operands, _OUTPUTS),
            "scale": Constant("float64", np.array(real_scales(operands, _OUTPUTS))),
            "batches": operands.source.elements // inputs,
            "inputs": inputs,
            "outputs": outputs,
            "range": int16.output_range(operands.output, options.activation),
        },
        macs=operands.output.elements * inputs,
    )


OPERATOR = replace(
    fully_connected.OPERATOR,
    name="FULLY_CONNECTED int16",
    rule=replace(fully_connected.OPERATOR.rule, inputs=(INT16, INT8, INT64), output=INT16),
    lower=_lower,
    kernels=(_KERNEL,),
)
