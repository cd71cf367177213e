"""LOG_SOFTMAX: the logarithm of softmax over the last dimension."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.descriptors import ROWS, Kernel, Member, Structure
from n6build.compile.reference.fixed_point import exponent_scaling, quantize_multiplier
from n6build.compile.reference.kernel_call import KernelCall, row_arguments
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import INT8, Problem, Rule, check_elementwise, check_quantisation_is

_KERNEL = Kernel(
    "log_softmax",
    Structure(
        "n6k_log_softmax_t",
        (
            *ROWS,
            Member("multiplier", "int32_t"),
            Member("left_shift", "int32_t"),
            Member("reverse_multiplier", "int32_t"),
            Member("reverse_shift", "int32_t"),
            Member("diff_min", "int32_t"),
        ),
        doc="int8 -> int8 (output scale 1/16, zero point 127) row by row, in the fixed point of the reference resolver. The "
        "reverse scaling leads from logarithms to differences of input elements.",
    ),
)


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_elementwise(operands)
    yield from check_quantisation_is(operands.output, 16, 127, "a log softmax")


def _lower(operands: Operands) -> KernelCall:
    scaling = exponent_scaling(required_quantisation(operands.first).scale)
    reverse_multiplier, reverse_shift = quantize_multiplier((1 << (31 - scaling.left_shift)) / scaling.multiplier)
    return KernelCall(
        _KERNEL,
        {
            **row_arguments(operands.first, operands.output),
            "multiplier": scaling.multiplier,
            "left_shift": scaling.left_shift,
            "reverse_multiplier": reverse_multiplier,
            "reverse_shift": reverse_shift,
            "diff_min": scaling.diff_min,
        },
    )


OPERATOR = OperatorKind(
    name="LOG_SOFTMAX",
    label="LogSoftmax",
    rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
