"""RESIZE_BILINEAR: another height and width.

Each element is interpolated between the four nearest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import tflite

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure, reads
from n6build.compile.reference.kernel_call import Constant, KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.resizing import ONE, Between, ResizeOptions, between, check_resize, resize_options
from n6build.compile.reference.rules import INT8, INT32, Rule

MEMBERS = (
    Member("rows", reads("int32_t")),
    Member("columns", reads("int32_t")),
    Member("out_height", "uint32_t"),
    Member("out_width", "uint32_t"),
    Member("channels", "uint32_t"),
    Member("row_bits", "uint32_t"),
    Member("column_bits", "uint32_t"),
)
_KERNEL = Kernel(
    "resize_bilinear",
    Structure(
        "n6k_resize_bilinear_t",
        (*ENDS, *MEMBERS),
        doc="rows, columns: for all of the output's, the offset in elements of the first of the two of the input that each lies "
        "between, then for all the offset of the second, then its weight, of 2^row_bits or 2^column_bits. Rounding: halves away "
        "from zero.",
    ),
)


def _read(table: tflite.ResizeBilinearOptions) -> ResizeOptions:
    return ResizeOptions(bool(table.AlignCorners()), bool(table.HalfPixelCenters()))


def lowered_to(kernel: Kernel) -> Callable[[Operands], KernelCall]:
    """Return a function that lowers an operator to a kernel.

    Args:
        kernel: A kernel whose descriptor has MEMBERS behind its ends.
    """

    def lower(operands: Operands) -> KernelCall:
        options = resize_options(operands)
        _, height, width, channels = operands.first.shape
        _, out_height, out_width, _ = operands.output.shape
        rows, row_bits = _table(between(height, out_height, options), width * channels)
        columns, column_bits = _table(between(width, out_width, options), channels)
        return KernelCall(
            kernel,
            {
                "input": operands.first,
                "output": operands.output,
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


OPERATOR = OperatorKind(
    name="RESIZE_BILINEAR",
    label="ResizeBilinear",
    options=OptionsReader(tflite.ResizeBilinearOptions, tflite.BuiltinOptions.ResizeBilinearOptions, _read),
    rule=Rule(inputs=(INT8, INT32), required=2, constants=(1,), output=INT8, check=check_resize),
    lower=lowered_to(_KERNEL),
    kernels=(_KERNEL,),
)
