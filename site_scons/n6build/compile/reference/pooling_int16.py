"""Parts that max and average pooling of int16 share."""

from __future__ import annotations

from dataclasses import replace

from n6build.compile.reference import int16, pooling
from n6build.compile.reference.descriptors import Kernel, Member, Structure
from n6build.compile.reference.kernel_call import KernelCall, recast
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import INT16
from n6build.compile.reference.windows import WINDOW_MEMBERS, window_options

_POOL = Structure(
    "n6k_pool_int16_t",
    (*int16.ENDS, *WINDOW_MEMBERS, Member("range", int16.RANGE)),
    doc="As n6k_pool_t, of int16.",
)


def of_int16(kind: OperatorKind) -> OperatorKind:
    """Return a pooling operator of int16.

    Args:
        kind: The operator of int8. The new kernel has the name of its kernel, followed by _int16.
    """
    kernel = Kernel(f"{kind.kernels[0].name}_int16", _POOL)

    def lower(operands: Operands) -> KernelCall:
        call = pooling.pooling_call(kernel, operands)
        made = int16.output_range(operands.output, window_options(operands).activation)
        return recast(call, kernel, {"range": made})

    return OperatorKind(
        name=f"{kind.name} int16",
        label=kind.label,
        options=pooling.OPTIONS,
        rule=replace(pooling.RULE, inputs=(INT16,), output=INT16),
        lower=lower,
        kernels=(kernel,),
    )
