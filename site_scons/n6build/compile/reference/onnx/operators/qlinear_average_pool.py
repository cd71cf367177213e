"""QLinearAveragePool: the mean of each window in float32.

Elements are added in the order of ONNX Runtime.
"""

from __future__ import annotations

from dataclasses import dataclass

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.compile.reference.kernel_call import Argument, KernelCall
from n6build.compile.reference.onnx.limits import limited_range
from n6build.compile.reference.onnx.operators.qlinear_conv import window_fields
from n6build.compile.reference.onnx.windowing import Windowing
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.rules import INT8, Rule, check_nhwc
from n6build.compile.reference.windows import WINDOW_MEMBERS, shape_of

_KERNEL = Kernel(
    "qlinear_average_pool",
    Structure(
        "n6k_qlinear_average_pool_t",
        (
            *ENDS,
            *WINDOW_MEMBERS,
            Member("input_scale", "float"),
            Member("output_scale", "float"),
            Member("output_zero_point", "float"),
            Member("output_offset", "int32_t"),
            Member("input_zero_point", "int8_t"),
            Member("range", RANGE),
            Member("counts_padding", "uint8_t", note="0 or 1"),
        ),
        doc="The mean in float32 of the window's real numbers, added row by row, divided by the output's scale; to this the zero "
        "point is added before it is rounded. output_offset: less by which it is stored, 128 where the model has uint8. "
        "counts_padding: the mean is of the whole window.",
    ),
)


@dataclass(frozen=True)
class PoolOptions:
    """Options of a pooling.

    Attributes:
        windowing: Window of the pooling.
        counts_padding: Whether padding counts as elements of a mean.
        low: Lower limit of the output's real numbers.
        high: Upper limit of the output's real numbers.
        offset: 128 where the model has uint8.
    """

    windowing: Windowing
    counts_padding: bool
    low: float
    high: float
    offset: int = 0


def pool_arguments(operands: Operands, options: PoolOptions) -> dict[str, Argument]:
    """Return the arguments for ENDS and WINDOW_MEMBERS."""
    return {
        "input": operands.first,
        "output": operands.output,
        "in": shape_of(operands.first),
        "out": shape_of(operands.output),
        "window": window_fields(options.windowing, *options.windowing.window),
    }


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, PoolOptions)
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    return KernelCall(
        _KERNEL,
        {
            **pool_arguments(operands, options),
            "input_scale": given.scale,
            "output_scale": target.scale,
            "output_zero_point": float(target.zero_point + options.offset),
            "output_offset": options.offset,
            "input_zero_point": given.zero_point,
            "range": limited_range(operands.output, options.low, options.high),
            "counts_padding": int(options.counts_padding),
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
