"""RESIZE_NEAREST_NEIGHBOR: another height and width.

Each element is that of the nearest position.
"""

from __future__ import annotations

import tflite

from n6build.compile.reference.gathering import GATHER, gather
from n6build.compile.reference.graph import ELEMENT_BYTES
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.movement import MOVABLE
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.resizing import ResizeOptions, check_resize, nearest, resize_options
from n6build.compile.reference.rules import INT32, Rule


def _read(table: tflite.ResizeNearestNeighborOptions) -> ResizeOptions:
    return ResizeOptions(bool(table.AlignCorners()), bool(table.HalfPixelCenters()))


def _lower(operands: Operands) -> KernelCall:
    options, (_, height, width, channels) = resize_options(operands), operands.first.shape
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


OPERATOR = OperatorKind(
    name="RESIZE_NEAREST_NEIGHBOR",
    label="ResizeNearestNeighbor",
    options=OptionsReader(
        tflite.ResizeNearestNeighborOptions, tflite.BuiltinOptions.ResizeNearestNeighborOptions, _read
    ),
    rule=Rule(inputs=(MOVABLE, INT32), required=2, constants=(1,), output=MOVABLE, check=check_resize, quantised=False),
    lower=_lower,
    kernels=(GATHER,),
)
