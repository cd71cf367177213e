"""Convolutions, poolings, linear resizing and products of matrices in float32.

ONNX Runtime computes them so wherever an input or the output is not quantised.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.descriptors import SHAPE, Member, kernel_with, of_type, reads, writes
from n6build.compile.reference.kernel_call import Argument, KernelCall, Parameter, ends, operand
from n6build.compile.reference.onnx.operators.qlinear_batch_matmul import check_matrices, matrix_arguments, products
from n6build.compile.reference.onnx.operators.qlinear_conv import check_sizes, shapes, window_fields
from n6build.compile.reference.onnx.operators.real_resize import ResizeOptions, neighbour_arguments
from n6build.compile.reference.onnx.windowing import Windowing
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, Problem, Rule, check_elements
from n6build.compile.reference.windows import WINDOW_MEMBERS

_WEIGHTS, _BIAS = 1, 2
_ENDS = (Member("input", reads("float")), Member("output", writes("float")))

_CONV = kernel_with(
    "float_conv",
    *_ENDS,
    *of_type(reads("float"), "weights", "bias"),
    *WINDOW_MEMBERS,
    Member("groups", "uint16_t"),
    doc="weights [output channel][window height][window width][input channel of its group]; bias: one for each output channel, "
    "added last. Sums of float32 products, one after another.",
)
_POOL = kernel_with(
    "float_pool",
    *_ENDS,
    *WINDOW_MEMBERS,
    *of_type("uint8_t", "average", "counts_padding"),
    doc="The mean of the window's elements if average is 1, else the largest. counts_padding: the mean is of the whole window.",
)
_MATMUL = kernel_with(
    "float_matmul",
    *of_type(reads("float"), "x", "y"),
    Member("output", writes("float")),
    *of_type("uint32_t", "batches", "rows", "columns", "depth", "x_stride", "y_stride"),
    doc="In each batch the products of all rows of x and all rows of y, both of depth elements. Strides lead to the next batch, "
    "0 where it is the same.",
)
_RESIZE = kernel_with(
    "float_resize",
    *_ENDS,
    *of_type(SHAPE, "in", "out"),
    *of_type(reads("int32_t"), "rows", "columns"),
    *of_type(reads("float"), "row_weights", "column_weights"),
    doc="As n6k_real_resize_t, of float32.",
)


@dataclass(frozen=True)
class WindowOptions:
    """Options of a convolution or pooling.

    Attributes:
        windowing: Window of one or two dimensions.
        groups: Number of groups of channels of a convolution.
        average: Whether a pooling takes the mean, not the largest element.
        counts_padding: Whether padding counts as elements of a mean.
    """

    windowing: Windowing
    groups: int = 1
    average: bool = False
    counts_padding: bool = False


def _check_conv(operands: Operands) -> Iterator[Problem]:
    yield from check_sizes(operands)
    yield from check_elements(operands.required(_BIAS), operands.output.shape[-1])


def _window_arguments(operands: Operands, options: WindowOptions, window: tuple[int, ...]) -> dict[str, Argument]:
    return {
        **shapes(operands),
        "window": window_fields(options.windowing, *(1, *window)[-2:]),
    }


def _lower_conv(operands: Operands) -> KernelCall:
    options = operands.options(WindowOptions)
    _, *window, depth = operands.required(_WEIGHTS).shape
    return KernelCall(
        _CONV,
        {
            **ends(operands),
            "weights": Parameter(operands.required(_WEIGHTS), "weights"),
            "bias": Parameter(operands.required(_BIAS), "bias"),
            **_window_arguments(operands, options, tuple(window)),
            "groups": options.groups,
        },
        macs=operands.output.elements * math.prod(window) * depth,
    )


def _lower_pool(operands: Operands) -> KernelCall:
    options = operands.options(WindowOptions)
    return KernelCall(
        _POOL,
        {
            **ends(operands),
            **_window_arguments(operands, options, options.windowing.window),
            "average": int(options.average),
            "counts_padding": int(options.counts_padding),
        },
    )


def _lower_matmul(operands: Operands) -> KernelCall:
    ends_of_call = {"x": operand(operands.first), "y": operand(operands.required(1)), "output": operands.output}
    return KernelCall(_MATMUL, {**ends_of_call, **matrix_arguments(operands)}, macs=products(operands))


def _lower_resize(operands: Operands) -> KernelCall:
    options = operands.options(ResizeOptions)
    return KernelCall(
        _RESIZE,
        {
            **ends(operands),
            **shapes(operands),
            **neighbour_arguments(options),
        },
    )


OPERATORS = (
    OperatorKind(
        "FloatConv",
        "FloatConv",
        Rule((FLOAT32, FLOAT32, FLOAT32), 3, (_WEIGHTS, _BIAS), FLOAT32, _check_conv),
        _lower_conv,
        (_CONV,),
    ),
    OperatorKind("FloatPool", "FloatPool", Rule((FLOAT32,), 1, (), FLOAT32, check_sizes), _lower_pool, (_POOL,)),
    OperatorKind(
        "FloatMatMul",
        "FloatMatMul",
        Rule((FLOAT32, FLOAT32), 2, (), FLOAT32, check_matrices, first_may_be_constant=True),
        _lower_matmul,
        (_MATMUL,),
    ),
    OperatorKind(
        "FloatResize", "FloatResize", Rule((FLOAT32,), 1, (), FLOAT32, check_sizes), _lower_resize, (_RESIZE,)
    ),
)
