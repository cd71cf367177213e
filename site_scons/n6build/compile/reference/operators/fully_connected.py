"""Rows of inputs times a matrix of weights.

Operators:
    FULLY_CONNECTED: rows of inputs times a matrix of weights.
    FULLY_CONNECTED asymmetric: with weights that have a zero point. Models of uint8 have such
        weights.
    FULLY_CONNECTED int16: with int16 activations and int8 weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import tflite

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import ENDS, Member, kernel_with, of_type, reads
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, ends, recast
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE, ActivationOptions, activation_of, output_range, read_activation
from n6build.compile.reference.reference_options import OptionsReader, UnsupportedError
from n6build.compile.reference.rules import CONVERT, INT8, INT16, INT64, Problem, Rule, check_elements, shown
from n6build.compile.reference.weights import (
    CONSTANTS,
    INPUTS,
    WEIGHT_MEMBERS,
    WEIGHTS,
    check_weights,
    real_scales,
    weight_arguments,
    weights_zero_point,
)

_OUTPUTS = 0  # the axis of the weights

_KERNEL = kernel_with(
    "fully_connected",
    *ENDS,
    *WEIGHT_MEMBERS,
    Member("scale", reads("double")),
    *of_type("uint32_t", "scales", "batches", "inputs", "outputs"),
    Member("range", RANGE),
    doc="weights [outputs][inputs]; `scales` scales, one for each output or one for all: input scale * weight scale / "
    "output scale, computed in double from the float32 scales. Unlike convolutions the reference scales in double "
    "precision here: one product, rounded to the nearest integer, halves away from zero; fixed point cannot give the same "
    "bits near a half. batches: how many rows of `inputs` elements are computed with the same weights.",
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
    outputs, inputs = operands.required(WEIGHTS).shape
    scales = real_scales(operands, _OUTPUTS)
    if len(set(scales)) == 1:
        scales = scales[:1]
    return KernelCall(
        _KERNEL,
        {
            **ends(operands),
            **weight_arguments(operands, _OUTPUTS),
            "scale": Constant("float64", np.array(scales)),
            "scales": len(scales),
            "batches": operands.source.elements // inputs,
            "inputs": inputs,
            "outputs": outputs,
            "range": output_range(operands.output, activation_of(operands)),
        },
        macs=operands.output.elements * inputs,
    )


_OPERATOR = OperatorKind(
    name="FULLY_CONNECTED",
    label="FullyConnected",
    options=OptionsReader(tflite.FullyConnectedOptions, _read),
    rule=Rule(inputs=INPUTS, required=2, constants=CONSTANTS, output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)


_ASYMMETRIC = kernel_with(
    "fully_connected_asymmetric",
    *ENDS,
    *WEIGHT_MEMBERS,
    Member("scale", reads("double")),
    *of_type("uint32_t", "batches", "inputs", "outputs"),
    Member("weights_zero_point", "int8_t"),
    Member("range", RANGE),
    doc="As n6k_fully_connected_t, by weights of which weights_zero_point is taken; a scale for each output.",
)


def _lower_asymmetric(operands: Operands) -> KernelCall:
    scale = Constant("float64", np.array(real_scales(operands, _OUTPUTS)))
    changed: dict[str, Argument] = {"scale": scale, "weights_zero_point": weights_zero_point(operands)}
    return recast(_OPERATOR.lower(operands), _ASYMMETRIC, changed)


_INT16 = kernel_with(
    "fully_connected_int16",
    *int16.ENDS,
    *int16.WEIGHT_MEMBERS,
    Member("scale", reads("double")),
    *of_type("uint32_t", "batches", "inputs", "outputs"),
    Member("range", int16.RANGE),
    doc="As n6k_fully_connected_t, with 64-bit accumulators.",
)


def _lower_int16(operands: Operands) -> KernelCall:
    changed = {
        **int16.weight_arguments(operands, _OUTPUTS),
        "scale": Constant("float64", np.array(real_scales(operands, _OUTPUTS))),
        "range": int16.output_range(operands.output, activation_of(operands)),
    }
    return recast(_OPERATOR.lower(operands), _INT16, changed)


OPERATORS = (
    _OPERATOR,
    replace(_OPERATOR, name="FULLY_CONNECTED asymmetric", lower=_lower_asymmetric, kernels=(_ASYMMETRIC,)),
    replace(
        _OPERATOR,
        name="FULLY_CONNECTED int16",
        rule=replace(_OPERATOR.rule, inputs=(INT16, INT8, INT64), output=INT16),
        lower=_lower_int16,
        kernels=(_INT16,),
    ),
)
