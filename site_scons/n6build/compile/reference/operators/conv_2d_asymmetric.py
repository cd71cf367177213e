"""CONV_2D with weights that have a zero point, as in models of uint8."""

from __future__ import annotations

from dataclasses import replace

from n6build.compile.reference.descriptors import Kernel, Member, Structure
from n6build.compile.reference.kernel_call import KernelCall, recast
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operators import conv_2d
from n6build.compile.reference.weights import weights_zero_point

_SYMMETRIC = conv_2d.OPERATOR.kernels[0].descriptor
_KERNEL = Kernel(
    "conv_2d_asymmetric",
    Structure(
        "n6k_conv_2d_asymmetric_t",
        (*_SYMMETRIC.members, Member("weights_zero_point", "int8_t")),
        doc=f"As {_SYMMETRIC.name}, by weights of which weights_zero_point is taken.",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    zero_point = weights_zero_point(operands)
    return recast(conv_2d.OPERATOR.lower(operands), _KERNEL, {"weights_zero_point": zero_point})


OPERATOR = replace(conv_2d.OPERATOR, name="CONV_2D asymmetric", lower=_lower, kernels=(_KERNEL,))
