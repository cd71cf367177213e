"""QLinearGlobalAveragePool: the mean of each channel in float32, with the sums in the order of ONNX Runtime."""

from __future__ import annotations

from n6build.network.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.onnx.limits import LimitOptions, limited_range
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.ranges import RANGE
from n6build.network.reference.rules import INT8, Rule, check_elements

_KERNEL = Kernel(
    "qlinear_global_average_pool",
    Structure(
        "n6k_qlinear_global_average_pool_t",
        (
            *ENDS,
            Member("pixels", "uint32_t"),
            Member("channels", "uint32_t"),
            Member("input_scale", "float"),
            Member("output_scale", "float"),
            Member("input_zero_point", "int8_t"),
            Member("range", RANGE),
        ),
        doc="The mean in float32 of all pixels of each channel, divided by the output's scale. Every fourth pixel has a sum of "
        "its own; the first and the third of those are added, the other two, both, then the pixels that are left over.",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, LimitOptions)
    channels = operands.first.shape[-1]
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    return KernelCall(
        _KERNEL,
        {
            "input": operands.first,
            "output": operands.output,
            "pixels": operands.first.elements // channels,
            "channels": channels,
            "input_scale": given.scale,
            "output_scale": target.scale,
            "input_zero_point": given.zero_point,
            "range": limited_range(operands.output, options.low, options.high),
        },
    )


OPERATOR = OperatorKind(
    name="QLinearGlobalAveragePool",
    label="QLinearGlobalAveragePool",
    rule=Rule(
        inputs=(INT8,),
        required=1,
        constants=(),
        output=INT8,
        check=lambda operands: check_elements(operands.output, operands.first.shape[-1]),
    ),
    lower=_lower,
    kernels=(_KERNEL,),
)
