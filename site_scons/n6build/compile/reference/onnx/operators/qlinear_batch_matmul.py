"""QLinearBatchMatMul: rows of one tensor times rows of another.

ONNX calls it QLinearMatMul. Neither tensor has to be constant.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from n6build.compile.reference.descriptors import Member, kernel_with, of_type
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, KernelCall, Scratch, operand
from n6build.compile.reference.onnx.limits import LimitOptions, limited_range
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.operators.batch_matmul import MATRICES
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.rules import INT8, Problem, Rule, check_shape, shown

# Number of products of two int8, minus their zero points, whose sum fits in 32 bits.
_MOST_DEPTH = (1 << 31) // (255 * 255)

_KERNEL = kernel_with(
    "qlinear_batch_matmul",
    *MATRICES,
    Member("scale", "float"),
    *of_type("int8_t", "x_zero_point", "y_zero_point"),
    Member("range", RANGE),
    doc="In each batch the products of all rows of x and all rows of y, both of depth elements; an output row has one "
    "element for each row of y, columns of them. A sum is converted to float32, multiplied by scale and rounded half to "
    "even. Strides lead to the next batch, 0 where it is the same. scratch: N6K_QLINEAR_BATCH_MATMUL_SCRATCH bytes.",
    definitions="""\
/* Bytes of scratch: where the sum of each column begins. */
#define N6K_QLINEAR_BATCH_MATMUL_SCRATCH(columns) (4 * (columns))
""",
)


def _batches(tensor: Tensor) -> int:
    return math.prod(tensor.shape[:-2])


def check_matrices(operands: Operands, most_depth: int = _MOST_DEPTH) -> Iterator[Problem]:
    """Check that rows of two tensors can be multiplied.

    Args:
        operands: Both tensors and the output.
        most_depth: Largest length of a row.
    """
    x, y = operands.first, operands.required(1)
    batches = max(_batches(x), _batches(y))
    if x.shape[-1] != y.shape[-1] or not {_batches(x), _batches(y)} <= {1, batches} or x.shape[-1] > most_depth:
        what = f"tensors {shown(x)} {list(x.shape)} and {shown(y)} {list(y.shape)}, transposed, do not fit together"
        yield Problem(
            "N6-NET-007", what, f"use rows of the same length, at most {most_depth}, and equal batches or one"
        )
        return
    yield from check_shape(operands.output, (*operands.output.shape[:-2], x.shape[-2], y.shape[-2]))


def matrix_arguments(operands: Operands) -> dict[str, Argument]:
    """Return the arguments from batches to y_stride."""
    x, y = operands.first, operands.required(1)
    return {
        "batches": max(_batches(x), _batches(y)),
        "rows": x.shape[-2],
        "columns": y.shape[-2],
        "depth": x.shape[-1],
        "x_stride": _stride(x),
        "y_stride": _stride(y),
    }


def products(operands: Operands) -> int:
    """Return the number of products of elements."""
    return operands.output.elements * operands.first.shape[-1]


def _stride(tensor: Tensor) -> int:
    return math.prod(tensor.shape[-2:]) if _batches(tensor) > 1 else 0


def _lower(operands: Operands) -> KernelCall:
    options = operands.options(LimitOptions)
    x, y = operands.first, operands.required(1)
    of_x, of_y, target = map(required_quantisation, (x, y, operands.output))
    columns = y.shape[-2]
    return KernelCall(
        _KERNEL,
        {
            "x": operand(x),
            "y": operand(y),
            "output": operands.output,
            "scratch": Scratch(4 * columns, least=f"N6K_QLINEAR_BATCH_MATMUL_SCRATCH({columns})"),
            **matrix_arguments(operands),
            "scale": float(np.float32(of_x.scale) * np.float32(of_y.scale) / np.float32(target.scale)),
            "x_zero_point": of_x.zero_point,
            "y_zero_point": of_y.zero_point,
            "range": limited_range(operands.output, options),
        },
        macs=products(operands),
    )


OPERATORS = (
    OperatorKind(
        name="QLinearBatchMatMul",
        label="QLinearMatMul",
        rule=Rule(
            inputs=(INT8, INT8), required=2, constants=(), output=INT8, check=check_matrices, first_may_be_constant=True
        ),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
