"""BATCH_MATMUL: products of matrices; one or both are activations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import tflite

from n6build.compile.reference.descriptors import Member, kernel_with, of_type, reads, writes
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, Parameter, Scratch
from n6build.compile.reference.operands import Operands, required_quantisation, zero_point_of
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE, output_range
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT8, Problem, Rule, check_per_tensor, check_shape, shown

_MAX_RANK = 5  # limit of the reference resolver

# Members of a descriptor, in this order.
MATRICES = (
    *of_type(reads("int8_t"), "x", "y"),
    Member("output", writes("int8_t")),
    Member("scratch", writes("int32_t")),
    *of_type("uint32_t", "batches", "rows", "columns", "depth", "x_stride", "y_stride"),
)

_KERNEL = kernel_with(
    "batch_matmul",
    *MATRICES,
    *of_type("int32_t", "x_zero_point", "y_zero_point", "multiplier", "shift"),
    *of_type("uint8_t", "x_is_transposed", "y_is_transposed"),
    Member("range", RANGE),
    doc="output [batches][rows][columns] of x [rows][depth] and y [depth][columns], or their transposes. Strides: from one "
    "batch to the next, 0 where all have the same matrix. scratch: N6K_BATCH_MATMUL_SCRATCH bytes. Rounding: double.",
    definitions="""\
/* Bytes of scratch: a start for each column's sums, a row of x, and y transposed where it is not. */
#define N6K_BATCH_MATMUL_SCRATCH(columns, depth, y_is_transposed) \\
    (4 * (columns) + (depth) + ((y_is_transposed) ? 0 : (columns) * (depth)))
""",
)


@dataclass(frozen=True)
class _Options:
    adj_x: bool
    adj_y: bool


def _read(table: tflite.BatchMatMulOptions) -> _Options:
    return _Options(bool(table.AdjX()), bool(table.AdjY()))


@dataclass(frozen=True)
class _Sizes:
    """Sizes of the product.

    Attributes:
        batches: Dimensions in front of the last two.
    """

    batches: tuple[int, ...]
    rows: int
    columns: int
    depth: int


def _sizes(operands: Operands) -> _Sizes:
    options = operands.options(_Options)
    x, y = operands.first.shape, operands.required(1).shape
    rows, depth = reversed(x[-2:]) if options.adj_x else x[-2:]
    columns = y[-2] if options.adj_y else y[-1]
    batches = itertools.zip_longest(reversed(x[:-2]), reversed(y[:-2]), fillvalue=1)
    return _Sizes(tuple(max(pair) for pair in batches)[::-1], rows, columns, depth)


def _check(operands: Operands) -> Iterator[Problem]:
    x, y = operands.first, operands.required(1)
    for each in (x, y):
        if not 2 <= len(each.shape) <= _MAX_RANK:
            yield Problem("N6-NET-005", f"tensor {shown(each)} has the shape {list(each.shape)}", "2 to 5 dimensions")
            return
    if x.data is not None and y.data is not None:
        yield Problem("N6-NET-007", "multiplies two constants", "fold constants before converting")
    for each in (x, y):
        yield from check_per_tensor(each)
    sizes = _sizes(operands)
    depth = y.shape[-1] if operands.options(_Options).adj_y else y.shape[-2]
    alike = all(
        math.prod(each.shape[:-2]) == 1 or _without_ones(each.shape[:-2]) == _without_ones(sizes.batches)
        for each in (x, y)
    )
    if depth != sizes.depth or not alike:
        yield Problem(
            "N6-NET-007",
            f"tensors {shown(x)} {list(x.shape)} and {shown(y)} {list(y.shape)} do not fit together",
            "use equal batches of matrices, or a single matrix for one of them",
        )
        return
    yield from check_shape(operands.output, (*sizes.batches, sizes.rows, sizes.columns))


def _without_ones(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sizes from the first one on that is larger than 1."""
    first = next((place for place, size in enumerate(sizes) if size > 1), len(sizes))
    return sizes[first:]


def _stride(tensor: Tensor) -> int:
    return math.prod(tensor.shape[-2:]) if math.prod(tensor.shape[:-2]) > 1 else 0


def _lower(operands: Operands) -> KernelCall:
    x, y, sizes = operands.first, operands.required(1), _sizes(operands)
    adj_y = operands.options(_Options).adj_y or y.data is not None
    given = required_quantisation(x).scale, required_quantisation(y).scale
    # The reference resolver multiplies in float32 and divides in double.
    product = float(np.float32(given[0]) * np.float32(given[1]))
    multiplier, shift = accumulator_multiplier(product / required_quantisation(operands.output).scale)
    scratch = 4 * sizes.columns + sizes.depth + (0 if adj_y else sizes.columns * sizes.depth)
    return KernelCall(
        _KERNEL,
        {
            "x": x if x.data is None else Parameter(x, "matrix"),
            "y": _turned(operands),
            "output": operands.output,
            "scratch": Scratch(
                scratch, least=f"N6K_BATCH_MATMUL_SCRATCH({sizes.columns}, {sizes.depth}, {int(adj_y)})"
            ),
            "batches": math.prod(sizes.batches),
            "rows": sizes.rows,
            "columns": sizes.columns,
            "depth": sizes.depth,
            "x_stride": _stride(x),
            "y_stride": _stride(y),
            "x_zero_point": zero_point_of(x),
            "y_zero_point": zero_point_of(y),
            "multiplier": multiplier,
            "shift": shift,
            "x_is_transposed": int(operands.options(_Options).adj_x),
            "y_is_transposed": int(adj_y),
            "range": output_range(operands.output, "NONE"),
        },
        macs=operands.output.elements * sizes.depth,
    )


def _turned(operands: Operands) -> Argument:
    """Return y; transpose a constant here unless the model has it transposed."""
    y = operands.required(1)
    if y.data is None:
        return y
    if operands.options(_Options).adj_y:
        return Parameter(y, "matrix")
    return Constant("int8", np.ascontiguousarray(np.swapaxes(y.data, -1, -2)))


OPERATORS = (
    OperatorKind(
        name="BATCH_MATMUL",
        label="BatchMatMul",
        options=OptionsReader(tflite.BatchMatMulOptions, _read),
        rule=Rule(inputs=(INT8, INT8), required=2, constants=(), output=INT8, check=_check, first_may_be_constant=True),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
