"""What max and average pooling of int16 have in common."""

from __future__ import annotations

from dataclasses import replace

from n6build.network.reference import int16, pooling
from n6build.network.reference.descriptors import Kernel, Member, Structure
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.operands import Operands
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.rules import INT16
from n6build.network.reference.windows import WINDOW_MEMBERS, window_arguments, window_options

_POOL = Structure(
    "n6k_pool_int16_t",
    (*int16.ENDS, *WINDOW_MEMBERS, Member("range", int16.RANGE)),
    doc="As n6k_pool_t, of int16.",
)


def of_int16(kind: OperatorKind) -> OperatorKind:
    """kind: of int8. Its kernel has the name of that one's, and int16."""
    kernel = Kernel(f"{kind.kernels[0].name}_int16", _POOL)

    def lower(operands: Operands) -> KernelCall:
        options = window_options(operands)
        return KernelCall(
            kernel,
            {
                "input": operands.source,
                "output": operands.output,
                **window_arguments(operands, options.height, options.width),
                "range": int16.output_range(operands.output, options.activation),
            },
        )

    return OperatorKind(
        name=f"{kind.name} int16",
        label=kind.label,
        options=pooling.OPTIONS,
        rule=replace(pooling.RULE, inputs=(INT16,), output=INT16),
        lower=lower,
        kernels=(kernel,),
    )
