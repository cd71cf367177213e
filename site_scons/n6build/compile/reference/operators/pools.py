"""Poolings, which only differ in the computation on a window's elements.

Operators:
    AVERAGE_POOL_2D: the mean of each window. Only elements inside the image count.
    AVERAGE_POOL_2D int16: the mean of each window of int16 elements. Only elements inside the image
        count.
    AVERAGE_POOL_2D unsigned: for models of uint8: halves are rounded up.
    MAX_POOL_2D: the largest element of each window.
    MAX_POOL_2D int16: the largest of the int16 elements of each window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import tflite

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.compile.reference.fixed_point import INT8_MIN
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, KernelCall, ends
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE, output_range, read_activation
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT8, INT16, Problem, Rule, check_nhwc, check_same_quantisation
from n6build.compile.reference.windows import (
    WINDOW_MEMBERS,
    WindowOptions,
    check_window,
    read_padding,
    window_arguments,
    window_options,
)

_POOL = Structure(
    "n6k_pool_t",
    (*ENDS, *WINDOW_MEMBERS, Member("range", RANGE)),
    doc="Max and average pooling; padding takes no part in either. Average rounds half away from zero.",
)
_POOL_INT16 = Structure(
    "n6k_pool_int16_t", (*int16.ENDS, *WINDOW_MEMBERS, Member("range", int16.RANGE)), doc="As n6k_pool_t, of int16."
)
MAX_POOL = Kernel("max_pool_2d", _POOL)


def _read(table: tflite.Pool2DOptions) -> WindowOptions:
    return WindowOptions(
        padding=read_padding(table.Padding()),
        stride_h=table.StrideH(),
        stride_w=table.StrideW(),
        height=table.FilterHeight(),
        width=table.FilterWidth(),
        activation=read_activation(table.FusedActivationFunction()),
    )


def _check(operands: Operands) -> Iterator[Problem]:
    options = window_options(operands)
    yield from check_nhwc(operands.first, operands.output)
    yield from check_same_quantisation(operands.first, operands.output)
    yield from check_window(operands, options.height, options.width, operands.first.shape[3])


_OPTIONS = OptionsReader(tflite.Pool2DOptions, _read)
_RULE = Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check)


def _pool(name: str, label: str, kernel: Kernel, takes_over: Callable[[Tensor], int] | None = None) -> OperatorKind:
    def lower(operands: Operands) -> KernelCall:
        options = window_options(operands)
        made = int16.output_range if operands.output.dtype == "int16" else output_range
        arguments: dict[str, Argument] = {
            **ends(operands),
            **window_arguments(operands, options.height, options.width),
            "range": made(operands.output, options.activation),
        }
        return KernelCall(kernel, arguments)

    return OperatorKind(name, label, _RULE, lower, (kernel,), _OPTIONS, takes_over)


def _of_int16(kind: OperatorKind) -> OperatorKind:
    rule = replace(_RULE, inputs=(INT16,), output=INT16)
    return replace(
        _pool(f"{kind.name} int16", kind.label, Kernel(f"{kind.kernels[0].name}_int16", _POOL_INT16)), rule=rule
    )


def _never_wins(_: Tensor) -> int:
    """Return the smallest int8, so that padding is never the largest element."""
    return INT8_MIN


_AVERAGE = _pool("AVERAGE_POOL_2D", "AveragePool2D", Kernel("average_pool_2d", _POOL))
_MAX = _pool("MAX_POOL_2D", "MaxPool2D", MAX_POOL, _never_wins)
OPERATORS = (
    _AVERAGE,
    _of_int16(_AVERAGE),
    _pool("AVERAGE_POOL_2D unsigned", "AveragePool2D", Kernel("average_pool_2d_unsigned", _POOL)),
    _MAX,
    _of_int16(_MAX),
)
