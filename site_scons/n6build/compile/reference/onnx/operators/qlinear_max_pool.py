"""MaxPool: the largest element of each window."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.onnx.limits import limited_range
from n6build.compile.reference.onnx.operators.qlinear_average_pool import PoolOptions, pool_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.operators.max_pool_2d import OPERATOR as OF_TFLITE
from n6build.compile.reference.rules import INT8, Problem, Rule, check_nhwc, check_same_quantisation

_KERNEL = OF_TFLITE.kernels[0]


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_nhwc(operands.first, operands.output)
    yield from check_same_quantisation(operands.first, operands.output)


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, PoolOptions)
    limits = limited_range(operands.output, options.low, options.high)
    return KernelCall(_KERNEL, {**pool_arguments(operands, options), "range": limits})


OPERATOR = OperatorKind(
    name="MaxPool",
    label="MaxPool",
    rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
