"""Windows that slide over an image, as in convolutions and poolings.

The module has their options, rule, sizes and descriptor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, get_args

import tflite

from n6build.compile.reference.descriptors import SHAPE, Member, Structure
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, fields_of
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.ranges import Activation, read_activation
from n6build.compile.reference.reference_options import choice, names_in
from n6build.compile.reference.rules import CONVERT, Problem, shown

PaddingScheme = Literal["SAME", "VALID"]

MAX_DIMENSION = 0xFFFF

WINDOW = Structure(
    "n6k_window_t",
    tuple(
        Member(name, "uint16_t")
        for name in ("height", "width", "stride_h", "stride_w", "dilation_h", "dilation_w", "pad_top", "pad_left")
    ),
    doc="How a window slides over its input; padding at the bottom and right follows from the output's shape.",
)
# Members of a descriptor, in this order.
WINDOW_MEMBERS = (Member("in", SHAPE), Member("out", SHAPE), Member("window", WINDOW))

_NAMES = names_in(tflite.Padding)


@dataclass(frozen=True)
class WindowOptions:
    """Options of a convolution or a pooling.

    Attributes:
        padding: The padding scheme.
        stride_h: Stride along the height.
        stride_w: Stride along the width.
        dilation_h: Dilation along the height.
        dilation_w: Dilation along the width.
        height: Height of a pooling's window; 0 if the shape of the weights gives it.
        width: Width of a pooling's window; 0 if the shape of the weights gives it.
        activation: The fused activation.
    """

    padding: PaddingScheme
    stride_h: int
    stride_w: int
    dilation_h: int = 1
    dilation_w: int = 1
    height: int = 0
    width: int = 0
    activation: Activation = "NONE"


def read_convolution(table: tflite.Conv2DOptions | tflite.DepthwiseConv2DOptions) -> WindowOptions:
    """Read the options of a convolution.

    Raises:
        DamagedError: A code does not exist.
        UnsupportedError: The padding or the activation is not supported.
    """
    return WindowOptions(
        padding=read_padding(table.Padding()),
        stride_h=table.StrideH(),
        stride_w=table.StrideW(),
        dilation_h=table.DilationHFactor(),
        dilation_w=table.DilationWFactor(),
        activation=read_activation(table.FusedActivationFunction()),
    )


def read_padding(code: int) -> PaddingScheme:
    """Return the padding scheme of a code.

    Args:
        code: Code in the schema's Padding.

    Raises:
        DamagedError: The code does not exist.
        UnsupportedError: The padding is not supported.
    """
    name: Any = choice(_NAMES, code, get_args(PaddingScheme), "padding")
    return name  # type: ignore[no-any-return]


def window_options(operands: Operands) -> WindowOptions:
    """Return the options of an operator with a window."""
    return operands.options(WindowOptions)


def window_output(size: int, window: int, stride: int, dilation: int, padding: PaddingScheme) -> tuple[int, int]:
    """Return the output size along one dimension, and the padding before it."""
    extent = (window - 1) * dilation + 1
    if padding == "VALID":
        return (size - extent) // stride + 1, 0
    output = -(-size // stride)
    return output, max(0, (output - 1) * stride + extent - size) // 2


def check_window(operands: Operands, height: int, width: int, channels: int) -> Iterator[Problem]:
    """Check that a window is possible and makes the output's shape.

    Args:
        operands: Tensors of the operator.
        height: Height of the window.
        width: Width of the window.
        channels: Number of channels of the output.
    """
    options = window_options(operands)
    numbers = (height, width, options.stride_h, options.stride_w, options.dilation_h, options.dilation_w)
    extents = ((height - 1) * options.dilation_h + 1, (width - 1) * options.dilation_w + 1)
    if min(numbers) < 1 or max(*numbers, *extents) > MAX_DIMENSION:
        yield Problem("N6-NET-007", f"window, stride or dilation is out of range: {numbers}", CONVERT)
        return
    _, in_h, in_w, _ = operands.first.shape
    out_h, _ = window_output(in_h, height, options.stride_h, options.dilation_h, options.padding)
    out_w, _ = window_output(in_w, width, options.stride_w, options.dilation_w, options.padding)
    if operands.output.shape != (1, out_h, out_w, channels) or min(out_h, out_w) < 1:
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(operands.output)} has the shape {list(operands.output.shape)} instead of "
            f"{[1, out_h, out_w, channels]}",
            CONVERT,
        )


def window_arguments(operands: Operands, height: int, width: int) -> dict[str, Argument]:
    """Return the arguments for WINDOW_MEMBERS.

    A PAD before the operator adds to the operator's own padding.
    """
    options = window_options(operands)
    _, in_h, in_w, _ = operands.first.shape
    _, top = window_output(in_h, height, options.stride_h, options.dilation_h, options.padding)
    _, left = window_output(in_w, width, options.stride_w, options.dilation_w, options.padding)
    if operands.padding:
        top, left = top + operands.padding.top, left + operands.padding.left
    strides, dilations = (options.stride_h, options.stride_w), (options.dilation_h, options.dilation_w)
    window = window_of((height, width), strides, dilations, (top, left))
    return {"in": shape_of(operands.source), "out": shape_of(operands.output), "window": window}


def window_of(*pairs: tuple[int, int]) -> Fields:
    """Return the member of type WINDOW.

    Args:
        *pairs: Size, stride, dilation and padding, along height and width each.
    """
    names = (member.name for member in WINDOW.members)
    return fields_of(WINDOW, dict(zip(names, chain.from_iterable(pairs), strict=True)))


def shape_of(tensor: Tensor) -> Fields:
    """Return the member of type SHAPE for an NHWC tensor of one batch."""
    _, height, width, channels = tensor.shape
    return fields_of(SHAPE, {"height": height, "width": width, "channels": channels})
