"""AVERAGE_POOL_2D: the mean of each window.

Only elements inside the image count.
"""

from __future__ import annotations

from n6build.network.reference.descriptors import Kernel
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.operands import Operands
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.pooling import OPTIONS, POOL, RULE, pooling_call

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
