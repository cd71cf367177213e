"""RealFunction: any function of one element as float32.

Its options are the results for -128 to 127.
"""

from __future__ import annotations

import numpy as np

from n6build.compile.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.compile.reference.kernel_call import Constant, KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, INT8, Rule, check_elementwise

_KERNEL = Kernel(
    "real_table",
    Structure(
        "n6k_real_table_t",
        (
            Member("input", reads("int8_t")),
            Member("output", writes("float")),
            Member("elements", "uint32_t"),
            Member("table", reads("float")),
        ),
        doc="Of each element x: table[x + 128].",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    results = operands.operator.options
    assert isinstance(results, tuple) and len(results) == 256
    return KernelCall(
        _KERNEL,
        {
            "input": operands.first,
            "output": operands.output,
            "elements": operands.output.elements,
            "table": Constant("float32", np.array(results, np.float32)),
        },
    )


OPERATOR = OperatorKind(
    name="RealFunction",
    label="RealFunction",
    rule=Rule(inputs=(INT8,), required=1, constants=(), output=FLOAT32, check=check_elementwise),
    lower=_lower,
    kernels=(_KERNEL,),
)
