"""Any function of one element, whose options are the results for -128 to 127.

The results of QLinearFunction are int8, those of RealFunction float32.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.descriptors import Member, elements, kernel_with, reads
from n6build.compile.reference.kernel_call import Constant, KernelCall, element_arguments
from n6build.compile.reference.lookup import lookup_operator
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, INT8, Rule, check_elementwise


def _results(operands: Operands) -> tuple[float, ...]:
    results = operands.options(tuple)
    assert len(results) == 256
    return results


def _table(operands: Operands) -> NDArray[np.int8]:
    return np.array(_results(operands), np.int8)


_KERNEL = kernel_with(
    "real_table",
    *elements("int8_t", "float"),
    Member("table", reads("float")),
    doc="Of each element x: table[x + 128].",
)


def _lower(operands: Operands) -> KernelCall:
    return KernelCall(
        _KERNEL, {**element_arguments(operands), "table": Constant("float32", np.array(_results(operands), np.float32))}
    )


_REAL_RULE = Rule(inputs=(INT8,), required=1, constants=(), output=FLOAT32, check=check_elementwise)
OPERATORS = (
    lookup_operator("QLinearFunction", "QLinearFunction", _table),
    OperatorKind("RealFunction", "RealFunction", _REAL_RULE, _lower, (_KERNEL,)),
)
