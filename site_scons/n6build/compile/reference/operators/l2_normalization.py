"""L2_NORMALIZATION: vectors divided by their Euclidean length.

The vectors are along the last dimension.
"""

from __future__ import annotations

from collections.abc import Iterator

import tflite

from n6build.compile.reference.descriptors import ROWS, Member, kernel_with
from n6build.compile.reference.kernel_call import KernelCall, row_arguments
from n6build.compile.reference.operands import Operands, zero_point_of
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import ActivationOptions, read_activation
from n6build.compile.reference.reference_options import OptionsReader, UnsupportedError
from n6build.compile.reference.rules import INT8, Problem, Rule, check_elementwise, check_quantisation_is

_KERNEL = kernel_with(
    "l2_normalization",
    *ROWS,
    Member("input_zero_point", "int32_t"),
    doc="int8 -> int8 (output scale 1/128, zero point 0) row by row. Rounding: double.",
)


def _read(table: tflite.L2NormOptions) -> ActivationOptions:
    activation = read_activation(table.FusedActivationFunction())
    if activation != "NONE":
        raise UnsupportedError(f"a fused activation ({activation}) is not supported", "put the activation after it")
    return ActivationOptions(activation)


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_elementwise(operands)
    yield from check_quantisation_is(operands.output, 128, 0, "an L2 normalisation")


def _lower(operands: Operands) -> KernelCall:
    return KernelCall(_KERNEL, {**row_arguments(operands), "input_zero_point": zero_point_of(operands.first)})


OPERATORS = (
    OperatorKind(
        name="L2_NORMALIZATION",
        label="L2Normalization",
        options=OptionsReader(tflite.L2NormOptions, _read),
        rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
