"""QLinearAveragePool: the mean of each window in float32, with the sums in the order of ONNX Runtime."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.network.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.onnx.limits import limited_range
from n6build.network.reference.onnx.operators.qlinear_conv import window_fields
from n6build.network.reference.onnx.windowing import Windowing
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.ranges import RANGE
from n6build.network.reference.rules import INT8, Rule, check_nhwc
from n6build.network.reference.windows import WINDOW_MEMBERS, shape_of

_KERNEL = Kernel(
    "qlinear_average_pool",
    Structure(
        "n6k_qlinear_average_pool_t",
        (
            *ENDS,
            *WINDOW_MEMBERS,
            Member("input_scale", "float"),
            Member("output_scale", "float"),
            Member("input_zero_point", "int8_t"),
            Member("range", RANGE),
            Member("counts_padding", "uint8_t", note="0 or 1"),
            Member("columns_first", "uint8_t", note="0 or 1"),
        ),
        doc="The mean in float32 of the window's real numbers, divided by the output's scale. counts_padding: the mean is "
        "of the whole window. columns_first: the sums of the window's columns are added, otherwise its elements row by row.",
    ),
)
# ONNX Runtime adds the columns of windows that move on by at most so many elements.
_MOST_STRIDE = 2


@dataclass(frozen=True)
class PoolOptions:
    """low, high: what the real numbers are limited to."""

    windowing: Windowing
    counts_padding: bool
    low: float
    high: float


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, PoolOptions)
    windowing = options.windowing
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    return KernelCall(
        _KERNEL,
        {
            "input": operands.first,
            "output": operands.output,
            "in": shape_of(operands.first),
            "out": shape_of(operands.output),
            "window": window_fields(windowing, *windowing.window),
            "input_scale": given.scale,
            "output_scale": target.scale,
            "input_zero_point": given.zero_point,
            "range": limited_range(operands.output, options.low, options.high),
            "counts_padding": int(options.counts_padding),
            "columns_first": int(windowing.strides[-1] <= _MOST_STRIDE),
        },
    )


OPERATOR = OperatorKind(
    name="QLinearAveragePool",
    label="QLinearAveragePool",
    rule=Rule(
        inputs=(INT8,),
        required=1,
        constants=(),
        output=INT8,
        check=lambda operands: check_nhwc(operands.first, operands.output),
    ),
    lower=_lower,
    kernels=(_KERNEL,),
)
