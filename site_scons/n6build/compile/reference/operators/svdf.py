"""SVDF: one step of filters over features and time.

The last features stay in a state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import tflite

from n6build.compile.reference.descriptors import ENDS, Member, kernel_with, of_type, reads, writes
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.kernel_call import Constant, KernelCall, Parameter, ends
from n6build.compile.reference.operands import Operands, required_quantisation, zero_point_of
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE, output_range
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT8, INT16, INT32, Problem, Rule, check_shape
from n6build.compile.reference.weights import check_symmetric, folded_bias

_FEATURE_WEIGHTS, _TIME_WEIGHTS, _BIAS, _STATE = 1, 2, 3, 4

_KERNEL = kernel_with(
    "svdf",
    *ENDS,
    Member("state", writes("int16_t")),
    Member("feature_weights", reads("int8_t")),
    Member("feature_bias", reads("int32_t")),
    Member("time_weights", reads("int16_t")),
    Member("bias", reads("int32_t")),
    *of_type("uint32_t", "inputs", "filters", "memory", "units"),
    *of_type("int32_t", "feature_multiplier", "feature_shift", "multiplier", "shift"),
    Member("range", RANGE),
    doc="state [filters][memory], the newest last. Each filter adds input [inputs] times feature_weights [filters][inputs] "
    "to it; each unit sums filters / units of them, times time_weights [filters][memory]. Rounding: double.",
)


@dataclass(frozen=True)
class _Options:
    rank: int


def _read(table: tflite.SVDFOptions) -> _Options:
    """Read the options but the activation: the reference resolver ignores it."""
    return _Options(table.Rank())


def _check(operands: Operands) -> Iterator[Problem]:
    options = operands.options(_Options)
    features, time, bias = (
        operands.required(_FEATURE_WEIGHTS),
        operands.required(_TIME_WEIGHTS),
        operands.optional(_BIAS),
    )
    inputs = operands.first.shape[-1] if operands.first.shape else 1
    filters = features.shape[0] if features.shape else 0
    yield from check_shape(operands.first, (1, inputs))
    yield from check_shape(features, (filters, inputs))
    memory = time.shape[-1] if time.shape else 0
    yield from check_shape(time, (filters, memory))
    yield from check_shape(operands.required(_STATE), (1, filters * memory))
    if options.rank < 1 or filters % options.rank:
        yield Problem(
            "N6-NET-007",
            f"has {filters} filters of rank {options.rank}",
            "use a rank that divides the number of filters",
        )
        return
    units = filters // options.rank
    if bias is not None:
        yield from check_shape(bias, (units,))
    yield from check_shape(operands.output, (1, units))
    yield from check_symmetric(features)
    yield from check_symmetric(time)


def _lower(operands: Operands) -> KernelCall:
    features, time, state = (operands.required(place) for place in (_FEATURE_WEIGHTS, _TIME_WEIGHTS, _STATE))
    bias = operands.optional(_BIAS)
    filters, inputs = features.shape
    units = operands.output.elements
    scales = [required_quantisation(each).scale for each in (operands.first, features, state, time, operands.output)]
    feature_multiplier, feature_shift = accumulator_multiplier(scales[0] * scales[1] / scales[2])
    multiplier, shift = accumulator_multiplier(scales[2] * scales[3] / scales[4])
    return KernelCall(
        _KERNEL,
        {
            **ends(operands),
            "state": state,
            "feature_weights": Parameter(features, "feature_weights"),
            "feature_bias": Constant("int32", folded_bias(features, None, zero_point_of(operands.first))),
            "time_weights": Parameter(time, "time_weights"),
            "bias": Parameter(bias, "bias") if bias else Constant("int32", np.zeros(units, np.int32)),
            "inputs": inputs,
            "filters": filters,
            "memory": time.shape[1],
            "units": units,
            "feature_multiplier": feature_multiplier,
            "feature_shift": feature_shift,
            "multiplier": multiplier,
            "shift": shift,
            "range": output_range(operands.output, "NONE"),
        },
        macs=features.elements + time.elements,
    )


OPERATORS = (
    OperatorKind(
        name="SVDF",
        label="Svdf",
        options=OptionsReader(tflite.SVDFOptions, _read),
        rule=Rule(
            inputs=(INT8, INT8, INT16, INT32, INT16),
            required=3,
            constants=(_FEATURE_WEIGHTS, _TIME_WEIGHTS, _BIAS),
            output=INT8,
            check=_check,
            states=(_STATE,),
        ),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
