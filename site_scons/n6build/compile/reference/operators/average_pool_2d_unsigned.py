"""AVERAGE_POOL_2D for models of uint8: halves are rounded up."""

from __future__ import annotations

from dataclasses import replace

from n6build.compile.reference.descriptors import Kernel
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operators import average_pool_2d
from n6build.compile.reference.pooling import POOL, pooling_call

_KERNEL = Kernel("average_pool_2d_unsigned", POOL)


def _lower(operands: Operands) -> KernelCall:
    return pooling_call(_KERNEL, operands)


OPERATOR = replace(average_pool_2d.OPERATOR, name="AVERAGE_POOL_2D unsigned", lower=_lower, kernels=(_KERNEL,))
