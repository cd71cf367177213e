"""MaxPool: the largest element of each window."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.onnx.limits import limited_range
from n6build.network.reference.onnx.operators.qlinear_average_pool import PoolOptions
from n6build.network.reference.onnx.operators.qlinear_conv import window_fields
from n6build.network.reference.operands import Operands
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.operators.max_pool_2d import OPERATOR as OF_TFLITE
from n6build.network.reference.rules import INT8, Problem, Rule, check_nhwc, check_same_quantisation
from n6build.network.reference.windows import shape_of

_KERNEL = OF_TFLITE.kernels[0]


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_nhwc(operands.first, operands.output)
    yield from check_same_quantisation(operands.first, operands.output)


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, PoolOptions)
    return KernelCall(
        _KERNEL,
        {
            "input": operands.first,
            "output": operands.output,
            "in": shape_of(operands.first),
            "out": shape_of(operands.output),
            "window": window_fields(options.windowing, *options.windowing.window),
            "range": limited_range(operands.output, options.low, options.high),
        },
    )


OPERATOR = OperatorKind(
    name="MaxPool",
    label="MaxPool",
    rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
