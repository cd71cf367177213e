"""MEAN: the mean over any dimensions."""

from __future__ import annotations

from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reductions import AXES, SUM, check_axes, reduction_of, sum_call
from n6build.compile.reference.rules import INT8, INT32, Rule


def _divided(multiplier: int, shift: int, count: int) -> tuple[int, int]:
    """Return the scaling that makes the mean of `count` values from their sum.

    The division is folded into it as in the reference resolver. The multiplier is shifted up before
    it is divided, as far as its right shift of at most 31 bits allows.
    """
    up = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << up) // count, shift - up


def _lower(operands: Operands) -> KernelCall:
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    reduction = reduction_of(operands)
    multiplier, shift = _divided(*accumulator_multiplier(given.scale / target.scale), reduction.count)
    return sum_call(operands, reduction, multiplier, shift)


OPERATOR = OperatorKind(
    name="MEAN",
    label="Mean",
    rule=Rule(inputs=(INT8, INT32), required=2, constants=(AXES,), output=INT8, check=check_axes),
    lower=_lower,
    kernels=(SUM,),
)
