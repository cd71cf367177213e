"""MAX_POOL_2D: the largest element of each window."""

from __future__ import annotations

from n6build.compile.reference.descriptors import Kernel
from n6build.compile.reference.fixed_point import INT8_MIN
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.pooling import OPTIONS, POOL, RULE, pooling_call

_KERNEL = Kernel("max_pool_2d", POOL)


def _lower(operands: Operands) -> KernelCall:
    return pooling_call(_KERNEL, operands)


def _never_wins(_: Tensor) -> int:
    """Return the smallest int8, so that padding is never the largest element."""
    return INT8_MIN


OPERATOR = OperatorKind(
    name="MAX_POOL_2D",
    label="MaxPool2D",
    options=OPTIONS,
    rule=RULE,
    lower=_lower,
    kernels=(_KERNEL,),
    takes_over=_never_wins,
)
