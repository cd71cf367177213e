"""REDUCE_MAX and REDUCE_MIN: the largest or smallest element over any dimensions.

Scale and zero point stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reductions import AXES, REDUCTION, check_axes, reduction_of
from n6build.compile.reference.rules import INT8, INT32, Problem, Rule, check_same_quantisation

_DESCRIPTOR = Structure(
    "n6k_reduce_t",
    (*ENDS, Member("reduction", REDUCTION)),
    doc="The largest or the smallest element over the reduced dimensions.",
)


def extreme(name: str, label: str, kernel_name: str) -> OperatorKind:
    """Return the operator of a name in the schema.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        kernel_name: Name of the function that finds the element.
    """
    kernel = Kernel(kernel_name, _DESCRIPTOR)

    def check(operands: Operands) -> Iterator[Problem]:
        yield from check_axes(operands)
        yield from check_same_quantisation(operands.first, operands.output)

    def lower(operands: Operands) -> KernelCall:
        reduction = reduction_of(operands).fields
        return KernelCall(kernel, {"input": operands.first, "output": operands.output, "reduction": reduction})

    return OperatorKind(
        name=name,
        label=label,
        rule=Rule(inputs=(INT8, INT32), required=2, constants=(AXES,), output=INT8, check=check),
        lower=lower,
        kernels=(kernel,),
    )
