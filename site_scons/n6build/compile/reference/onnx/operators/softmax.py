"""Softmax over the last dimension.

QLinearSoftmax is int8 and uses a table of exponentials. Softmax makes float32.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.descriptors import ENDS, Member, kernel_with, of_type, reads, writes
from n6build.compile.reference.kernel_call import Constant, KernelCall, row_arguments
from n6build.compile.reference.onnx.limits import limited_range
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.rules import FLOAT32, INT8, Rule, check_elementwise

# The sum of a row of the largest _exponentials is less than the largest float32 by a factor of e to the power of this.
_RESERVE = 5.0

_QUANTISED = kernel_with(
    "qlinear_softmax",
    *ENDS,
    *of_type("uint32_t", "rows", "depth"),
    Member("table", reads("float")),
    Member("factor", "float"),
    Member("range", RANGE),
    doc="Row by row, in float32: table[255 - (largest - x)] * factor / the sum of these entries, rounded half to even. "
    "factor: the whole number of output steps in 1.",
)


def _exponentials(scale: float, depth: int) -> NDArray[np.float32]:
    """Return e^(scale * (i - 255)) for each i up to 255, times a power of e.

    The power is as large as it can be while `depth` of the last _exponentials still have a sum, with
    a reserve.
    """
    largest = np.float32(np.finfo(np.float32).max) / np.float32(depth)
    shift = max(0.0, math.log(largest) - _RESERVE) / scale
    return np.array([math.exp((i - 255 + shift) * scale) for i in range(256)], np.float64).astype(np.float32)


def _lower_quantised(operands: Operands) -> KernelCall:
    depth = operands.first.shape[-1]
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    return KernelCall(
        _QUANTISED,
        {
            **row_arguments(operands),
            "table": Constant("float32", _exponentials(given.scale, depth)),
            "factor": float(np.floor(np.float32(1) / np.float32(target.scale))),
            "range": limited_range(operands.output),
        },
    )


_REAL = kernel_with(
    "real_softmax",
    Member("input", reads("int8_t")),
    Member("output", writes("float")),
    *of_type("uint32_t", "rows", "depth"),
    Member("scale", "float"),
    Member("zero_point", "int32_t"),
    doc="Row by row: (x - zero_point) * scale less the row's largest; its exponential by a polynomial; the sum of "
    "16 sums side by side; each exponential times the reciprocal of the sum. As ONNX Runtime has it with vectors of 16, and "
    "of 8 for at most 16 elements.",
)


def _lower_real(operands: Operands) -> KernelCall:
    given = required_quantisation(operands.first)
    return KernelCall(_REAL, {**row_arguments(operands), "scale": given.scale, "zero_point": given.zero_point})


OPERATORS = (
    OperatorKind(
        "QLinearSoftmax",
        "QLinearSoftmax",
        Rule((INT8,), 1, (), INT8, check_elementwise),
        _lower_quantised,
        (_QUANTISED,),
    ),
    OperatorKind("Softmax", "Softmax", Rule((INT8,), 1, (), FLOAT32, check_elementwise), _lower_real, (_REAL,)),
)
