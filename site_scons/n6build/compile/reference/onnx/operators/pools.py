"""Poolings of ONNX: the mean or the largest element of a window or a channel.

QLinearAveragePool computes in float32 and adds elements in the order of ONNX Runtime. A sum of
QLinearGlobalAveragePool is an integer that is scaled in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from n6build.compile.reference.descriptors import ENDS, Member, kernel_with, of_type
from n6build.compile.reference.kernel_call import Argument, KernelCall, ends
from n6build.compile.reference.onnx.limits import LimitOptions, limited_range
from n6build.compile.reference.onnx.operators.qlinear_conv import window_fields
from n6build.compile.reference.onnx.windowing import Windowing
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.operators.pools import MAX_POOL
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.rules import INT8, Problem, Rule, check_elements, check_nhwc, check_same_quantisation
from n6build.compile.reference.windows import WINDOW_MEMBERS, shape_of

_AVERAGE = kernel_with(
    "qlinear_average_pool",
    *ENDS,
    *WINDOW_MEMBERS,
    *of_type("float", "input_scale", "output_scale", "output_zero_point"),
    Member("output_offset", "int32_t"),
    Member("input_zero_point", "int8_t"),
    Member("range", RANGE),
    Member("counts_padding", "uint8_t", note="0 or 1"),
    doc="The mean in float32 of the window's real numbers, added row by row, divided by the output's scale; to this the zero "
    "point is added before it is rounded. output_offset: less by which it is stored, 128 where the model has uint8. "
    "counts_padding: the mean is of the whole window.",
)


@dataclass(frozen=True)
class PoolOptions(LimitOptions):
    """Options of a pooling.

    Attributes:
        windowing: Window of the pooling.
        counts_padding: Whether padding counts as elements of a mean.
        offset: 128 where the model has uint8.
    """

    windowing: Windowing
    counts_padding: bool
    offset: int = 0


def _pool_arguments(operands: Operands, options: PoolOptions) -> dict[str, Argument]:
    """Return the arguments for ENDS and WINDOW_MEMBERS."""
    return {
        **ends(operands),
        "in": shape_of(operands.first),
        "out": shape_of(operands.output),
        "window": window_fields(options.windowing, *options.windowing.window),
    }


def _averaged(operands: Operands) -> KernelCall:
    options = operands.options(PoolOptions)
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    return KernelCall(
        _AVERAGE,
        {
            **_pool_arguments(operands, options),
            "input_scale": given.scale,
            "output_scale": target.scale,
            "output_zero_point": float(target.zero_point + options.offset),
            "output_offset": options.offset,
            "input_zero_point": given.zero_point,
            "range": limited_range(operands.output, options),
            "counts_padding": int(options.counts_padding),
        },
    )


def _check_largest(operands: Operands) -> Iterator[Problem]:
    yield from check_nhwc(operands.first, operands.output)
    yield from check_same_quantisation(operands.first, operands.output)


def _largest(operands: Operands) -> KernelCall:
    options = operands.options(PoolOptions)
    limits = limited_range(operands.output, options)
    return KernelCall(MAX_POOL, {**_pool_arguments(operands, options), "range": limits})


_GLOBAL_AVERAGE = kernel_with(
    "qlinear_global_average_pool",
    *ENDS,
    *of_type("uint32_t", "pixels", "channels"),
    Member("bias", "int32_t"),
    Member("scale", "float"),
    Member("range", RANGE),
    doc="The sum of all pixels of each channel, with the bias: -input zero point * pixels. It is converted to float32, "
    "multiplied by scale, input scale / (output scale * pixels), and rounded half to even.",
)


def _averaged_whole(operands: Operands) -> KernelCall:
    options = operands.options(LimitOptions)
    channels = operands.first.shape[-1]
    pixels = operands.first.elements // channels
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    scale = np.float32(given.scale) / (np.float32(target.scale) * np.float32(pixels))
    arguments: dict[str, Argument] = {
        **ends(operands),
        "pixels": pixels,
        "channels": channels,
        "bias": -given.zero_point * pixels,
        "scale": float(scale),
        "range": limited_range(operands.output, options),
    }
    return KernelCall(_GLOBAL_AVERAGE, arguments)


def _rule(check: Callable[[Operands], Iterator[Problem]]) -> Rule:
    return Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=check)


def _check_images(operands: Operands) -> Iterator[Problem]:
    return check_nhwc(operands.first, operands.output)


def _check_whole(operands: Operands) -> Iterator[Problem]:
    return check_elements(operands.output, operands.first.shape[-1])


OPERATORS = (
    OperatorKind("MaxPool", "MaxPool", _rule(_check_largest), _largest, (MAX_POOL,)),
    OperatorKind("QLinearAveragePool", "QLinearAveragePool", _rule(_check_images), _averaged, (_AVERAGE,)),
    OperatorKind(
        "QLinearGlobalAveragePool", "QLinearGlobalAveragePool", _rule(_check_whole), _averaged_whole, (_GLOBAL_AVERAGE,)
    ),
)
