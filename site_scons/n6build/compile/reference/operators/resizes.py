"""Images of another height and width.

Operators:
    RESIZE_BILINEAR: another height and width. Each element is interpolated between the four
        nearest.
    RESIZE_BILINEAR int16: another height and width of int16 elements.
    RESIZE_BILINEAR unsigned: for models of uint8. It is computed in float32, as in the reference
        resolver.
    RESIZE_NEAREST_NEIGHBOR: another height and width. Each element is that of the nearest
        position.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import tflite

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import ENDS, Kernel, kernel_with, of_type, reads
from n6build.compile.reference.gathering import GATHER, gather
from n6build.compile.reference.graph import ELEMENT_BYTES, DType
from n6build.compile.reference.kernel_call import Constant, KernelCall, ends
from n6build.compile.reference.movement import MOVABLE
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.resizing import (
    ONE,
    Between,
    RealBetween,
    ResizeOptions,
    between,
    between_real,
    check_resize,
    nearest,
)
from n6build.compile.reference.rules import INT8, INT16, INT32, Rule

_MEMBERS = (
    *of_type(reads("int32_t"), "rows", "columns"),
    *of_type("uint32_t", "out_height", "out_width", "channels", "row_bits", "column_bits"),
)
_KERNEL = kernel_with(
    "resize_bilinear",
    *ENDS,
    *_MEMBERS,
    doc="rows, columns: for all of the output's, the offset in elements of the first of the two of the input that each lies "
    "between, then for all the offset of the second, then its weight, of 2^row_bits or 2^column_bits. Rounding: halves away "
    "from zero.",
)


def _read(table: tflite.ResizeBilinearOptions | tflite.ResizeNearestNeighborOptions) -> ResizeOptions:
    return ResizeOptions(bool(table.AlignCorners()), bool(table.HalfPixelCenters()))


def _lowered_to(kernel: Kernel) -> Callable[[Operands], KernelCall]:
    """Return a function that lowers an operator to a kernel.

    Args:
        kernel: A kernel whose descriptor has _MEMBERS behind its ends.
    """

    def lower(operands: Operands) -> KernelCall:
        options = operands.options(ResizeOptions)
        _, height, width, channels = operands.first.shape
        _, out_height, out_width, _ = operands.output.shape
        rows, row_bits = _table(between(height, out_height, options), width * channels)
        columns, column_bits = _table(between(width, out_width, options), channels)
        return KernelCall(
            kernel,
            {
                **ends(operands),
                "rows": rows,
                "columns": columns,
                "out_height": out_height,
                "out_width": out_width,
                "channels": channels,
                "row_bits": row_bits,
                "column_bits": column_bits,
            },
        )

    return lower


def _table(positions: Sequence[Between], each: int) -> tuple[Constant, int]:
    """Return a table of positions and weights, and the bits of a weight.

    It has the fewest bits that hold every weight exactly.

    Args:
        positions: Positions in the input.
        each: Elements from one position to the next.
    """
    divisor = math.gcd(ONE, *(position.weight for position in positions))
    numbers = [(at.lower * each, at.upper * each, at.weight // divisor) for at in positions]
    return Constant("int32", np.array(numbers, np.int64).T), (ONE // divisor).bit_length() - 1


_INT16 = kernel_with("resize_bilinear_int16", *int16.ENDS, *_MEMBERS, doc="As n6k_resize_bilinear_t.")
_UNSIGNED = kernel_with(
    "resize_bilinear_unsigned",
    *ENDS,
    *of_type(reads("int32_t"), "rows", "columns"),
    *of_type(reads("float"), "row_weights", "column_weights"),
    *of_type("uint32_t", "out_height", "out_width", "channels"),
    doc="rows, columns: for all of the output's, the offset in elements of the first of the two of the input that each lies "
    "between, then for all the offset of the second, whose weight is in row_weights and column_weights. Elements are int8, "
    "128 less than they were.",
)


def _lower_unsigned(operands: Operands) -> KernelCall:
    options = operands.options(ResizeOptions)
    _, height, width, channels = operands.first.shape
    _, out_height, out_width, _ = operands.output.shape
    rows, columns = between_real(height, out_height, options), between_real(width, out_width, options)
    return KernelCall(
        _UNSIGNED,
        {
            **ends(operands),
            "rows": _offsets(rows, width * channels),
            "columns": _offsets(columns, channels),
            "row_weights": _weights(rows),
            "column_weights": _weights(columns),
            "out_height": out_height,
            "out_width": out_width,
            "channels": channels,
        },
    )


def _offsets(positions: Sequence[RealBetween], each: int) -> Constant:
    """Return the offsets of positions that are `each` elements apart."""
    return Constant("int32", np.array([(at.lower * each, at.upper * each) for at in positions], np.int64).T)


def _weights(positions: Sequence[RealBetween]) -> Constant:
    return Constant("float32", np.array([at.weight for at in positions], np.float32))


def _lower_nearest(operands: Operands) -> KernelCall:
    options, (_, height, width, channels) = operands.options(ResizeOptions), operands.first.shape
    _, out_height, out_width, _ = operands.output.shape
    pixel = channels * ELEMENT_BYTES[operands.first.dtype]
    return gather(
        operands.first,
        operands.output,
        nearest(height, out_height, options),
        nearest(width, out_width, options),
        row_bytes=width * pixel,
        bytes_each=pixel,
    )


_OPTIONS = OptionsReader(tflite.ResizeBilinearOptions, _read)


def _bilinear(
    kind: str, dtype: tuple[DType, ...], lower: Callable[[Operands], KernelCall], kernel: Kernel
) -> OperatorKind:
    rule = Rule((dtype, INT32), 2, (1,), dtype, check_resize)
    return OperatorKind(f"RESIZE_BILINEAR{kind}", "ResizeBilinear", rule, lower, (kernel,), _OPTIONS)


OPERATORS = (
    _bilinear("", INT8, _lowered_to(_KERNEL), _KERNEL),
    _bilinear(" int16", INT16, _lowered_to(_INT16), _INT16),
    _bilinear(" unsigned", INT8, _lower_unsigned, _UNSIGNED),
    OperatorKind(
        "RESIZE_NEAREST_NEIGHBOR",
        "ResizeNearestNeighbor",
        Rule((MOVABLE, INT32), 2, (1,), MOVABLE, check_resize, quantised=False),
        _lower_nearest,
        (GATHER,),
        OptionsReader(tflite.ResizeNearestNeighborOptions, _read),
    ),
)
