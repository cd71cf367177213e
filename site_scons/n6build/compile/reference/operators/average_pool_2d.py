"""AVERAGE_POOL_2D: the mean of each window.

Only elements inside the image count.
"""

from __future__ import annotations

from n6build.compile.reference.descriptors import Kernel
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.pooling import OPTIONS, POOL, RULE, pooling_call

_KERNEL = Kernel("average_pool_2d", POOL)


def _lower(operands: Operands) -> KernelCall:
    return pooling_call(_KERNEL, operands)


OPERATOR = OperatorKind(
    name="AVERAGE_POOL_2D",
    label="AveragePool2D",
    options=OPTIONS,
    rule=RULE,
    lower=_lower,
    kernels=(_KERNEL,),
)
