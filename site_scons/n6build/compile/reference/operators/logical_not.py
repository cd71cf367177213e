"""LOGICAL_NOT: true becomes false, false becomes true."""

from __future__ import annotations

import numpy as np

from n6build.compile.reference.fixed_point import INT8_MAX, INT8_MIN
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.lookup import LOOKUP, lookup_call
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import BOOL, Rule, check_elementwise


def _lower(operands: Operands) -> KernelCall:
    return lookup_call(operands, (np.arange(INT8_MIN, INT8_MAX + 1) == 0).astype(np.int8))


OPERATOR = OperatorKind(
    name="LOGICAL_NOT",
    label="LogicalNot",
    rule=Rule(inputs=(BOOL,), required=1, constants=(), output=BOOL, check=check_elementwise),
    lower=_lower,
    kernels=(LOOKUP,),
)
