"""SUM: the sum over any dimensions."""

from __future__ import annotations

from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reductions import AXES, SUM, check_axes, reduction_of, sum_call
from n6build.compile.reference.rules import INT8, INT32, Rule


def _lower(operands: Operands) -> KernelCall:
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    return sum_call(operands, reduction_of(operands), *accumulator_multiplier(given.scale / target.scale))


OPERATOR = OperatorKind(
    name="SUM",
    label="Sum",
    rule=Rule(inputs=(INT8, INT32), required=2, constants=(AXES,), output=INT8, check=check_axes),
    lower=_lower,
    kernels=(SUM,),
)
