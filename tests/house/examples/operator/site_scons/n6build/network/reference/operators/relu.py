"""RELU: negative values become 0; input and output may have different scales."""

from __future__ import annotations

from n6build.network.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.network.reference.fixed_point import accumulator_multiplier
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.ranges import RANGE, output_range
from n6build.network.reference.rules import INT8, Rule, check_elementwise

_KERNEL = Kernel(
    "relu",
    Structure(
        "n6k_relu_t",
        (
            *ENDS,
            Member("elements", "uint32_t"),
            Member("multiplier", "int32_t"),
            Member("shift", "int32_t"),
            Member("input_zero_point", "int32_t"),
            Member("range", RANGE),
        ),
        doc="(x - input_zero_point) scaled to the output and clamped to `range`. Rounding: double, as for convolutions.",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    multiplier, shift = accumulator_multiplier(given.scale / target.scale)
    return KernelCall(
        _KERNEL,
        {
            "input": operands.first,
            "output": operands.output,
            "elements": operands.first.elements,
            "multiplier": multiplier,
            "shift": shift,
            "input_zero_point": given.zero_point,
            "range": output_range(operands.output, "RELU"),
        },
    )


OPERATOR = OperatorKind(
    name="RELU",
    label="Relu",
    rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=check_elementwise),
    lower=_lower,
    kernels=(_KERNEL,),
)
