"""QLinearSoftmax: softmax over the last dimension, by a table of exponentials."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure, reads
from n6build.compile.reference.kernel_call import Constant, KernelCall
from n6build.compile.reference.onnx.limits import limited_range
from n6build.compile.reference.onnx.rows import row_arguments
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.rules import INT8, Rule, check_elementwise

# The sum of a row of the largest exponentials is less than the largest float32 by a factor of e to the power of this.
_RESERVE = 5.0

_KERNEL = Kernel(
    "qlinear_softmax",
    Structure(
        "n6k_qlinear_softmax_t",
        (
            *ENDS,
            Member("rows", "uint32_t"),
            Member("depth", "uint32_t"),
            Member("table", reads("float")),
            Member("factor", "float"),
            Member("range", RANGE),
        ),
        doc="Row by row, in float32: table[255 - (largest - x)] * factor / the sum of these entries, rounded half to even. "
        "factor: the whole number of output steps in 1.",
    ),
)


def exponentials(scale: float, depth: int) -> NDArray[np.float32]:
    """Return e^(scale * (i - 255)) for each i up to 255, times a power of e.

    The power is as large as it can be while `depth` of the last exponentials still have a sum, with
    a reserve.
    """
    largest = np.float32(np.finfo(np.float32).max) / np.float32(depth)
    shift = max(0.0, math.log(largest) - _RESERVE) / scale
    return np.array([math.exp((i - 255 + shift) * scale) for i in range(256)], np.float64).astype(np.float32)


def _lower(operands: Operands) -> KernelCall:
    depth = operands.first.shape[-1]
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    return KernelCall(
        _KERNEL,
        {
            **row_arguments(operands),
            "table": Constant("float32", exponentials(given.scale, depth)),
            "factor": float(np.floor(np.float32(1) / np.float32(target.scale))),
            "range": limited_range(operands.output, -math.inf, math.inf),
        },
    )


OPERATOR = OperatorKind(
    name="QLinearSoftmax",
    label="QLinearSoftmax",
    rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=check_elementwise),
    lower=_lower,
    kernels=(_KERNEL,),
)
