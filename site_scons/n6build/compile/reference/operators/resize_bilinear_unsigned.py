"""RESIZE_BILINEAR for models of uint8.

It is computed in float32, as in the reference resolver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure, reads
from n6build.compile.reference.kernel_call import Constant, KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operators import resize_bilinear
from n6build.compile.reference.resizing import RealBetween, between_real, resize_options

_KERNEL = Kernel(
    "resize_bilinear_unsigned",
    Structure(
        "n6k_resize_bilinear_unsigned_t",
        (
            *ENDS,
            Member("rows", reads("int32_t")),
            Member("columns", reads("int32_t")),
            Member("row_weights", reads("float")),
            Member("column_weights", reads("float")),
            Member("out_height", "uint32_t"),
            Member("out_width", "uint32_t"),
            Member("channels", "uint32_t"),
        ),
        doc="rows, columns: for all of the output's, the offset in elements of the first of the two of the input that each lies "
        "between, then for all the offset of the second, whose weight is in row_weights and column_weights. Elements are int8, "
        "128 less than they were.",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    options = resize_options(operands)
    _, height, width, channels = operands.first.shape
    _, out_height, out_width, _ = operands.output.shape
    rows, columns = between_real(height, out_height, options), between_real(width, out_width, options)
    return KernelCall(
        _KERNEL,
        {
            "input": operands.first,
            "output": operands.output,
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


OPERATOR = replace(resize_bilinear.OPERATOR, name="RESIZE_BILINEAR unsigned", lower=_lower, kernels=(_KERNEL,))
