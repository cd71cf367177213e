"""FULLY_CONNECTED: rows of inputs times a matrix of weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import tflite

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure, reads
from n6build.compile.reference.kernel_call import Constant, KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE, ActivationOptions, output_range, read_activation
from n6build.compile.reference.reference_options import OptionsReader, UnsupportedError
from n6build.compile.reference.rules import CONVERT, INT8, Problem, Rule, check_elements, shown
from n6build.compile.reference.weights import (
    CONSTANTS,
    INPUTS,
    WEIGHT_MEMBERS,
    WEIGHTS,
    check_weights,
    real_scales,
    weight_arguments,
)

_OUTPUTS = 0  # the axis of the weights

_KERNEL = Kernel(
    "fully_connected",
    Structure(
        "n6k_fully_connected_t",
        (
            *ENDS,
            *WEIGHT_MEMBERS,
            Member("scale", reads("double")),
            Member("scales", "uint32_t"),
            Member("batches", "uint32_t"),
            Member("inputs", "uint32_t"),
            Member("outputs", "uint32_t"),
            Member("range", RANGE),
        ),
        doc="weights [outputs][inputs]; `scales` scales, one for each output or one for all: input scale * weight scale / "
        "output scale, computed in double from the float32 scales. Unlike convolutions the reference scales in double "
        "precision here: one product, rounded to the nearest integer, halves away from zero; fixed point cannot give the same "
        "bits near a half. batches: how many rows of `inputs` elements are computed with the same weights.",
    ),
)


def _read(table: tflite.FullyConnectedOptions) -> ActivationOptions:
    if table.WeightsFormat() != 0:
        raise UnsupportedError("shuffled weights are not supported", "convert the model without shuffled weights")
    return ActivationOptions(read_activation(table.FusedActivationFunction()))


def _check(operands: Operands) -> Iterator[Problem]:
    weights = operands.required(WEIGHTS)
    if len(weights.shape) != 2 or operands.first.elements % weights.shape[-1]:
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(weights)} of shape {list(weights.shape)} does not fit {operands.first.elements} inputs",
            CONVERT,
        )
        return
    outputs, inputs = weights.shape
    yield from check_weights(operands, _OUTPUTS)
    yield from check_elements(operands.output, operands.first.elements // inputs * outputs)


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, ActivationOptions)
    outputs, inputs = operands.required(WEIGHTS).shape
    scales = real_scales(operands, _OUTPUTS)
    if len(set(scales)) == 1:
        scales = scales[:1]
    return KernelCall(
        _KERNEL,
        {
            "input": operands.source,
            "output": operands.output,
            **weight_arguments(operands, _OUTPUTS),
            "scale": Constant("float64", np.array(scales)),
            "scales": len(scales),
            "batches": operands.source.elements // inputs,
            "inputs": inputs,
            "outputs": outputs,
            "range": output_range(operands.output, options.activation),
        },
        macs=operands.output.elements * inputs,
    )


OPERATOR = OperatorKind(
    name="FULLY_CONNECTED",
    label="FullyConnected",
    options=OptionsReader(tflite.FullyConnectedOptions, tflite.BuiltinOptions.FullyConnectedOptions, _read),
    rule=Rule(inputs=INPUTS, required=2, constants=CONSTANTS, output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
