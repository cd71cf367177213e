"""Parts that max and average pooling share.

The two only differ in the computation on a window's elements.
"""

from __future__ import annotations

from collections.abc import Iterator

import tflite

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.ranges import RANGE, output_range, read_activation
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT8, Problem, Rule, check_nhwc, check_same_quantisation
from n6build.compile.reference.windows import (
    WINDOW_MEMBERS,
    WindowOptions,
    check_window,
    read_padding,
    window_arguments,
    window_options,
)

POOL = Structure(
    "n6k_pool_t",
    (*ENDS, *WINDOW_MEMBERS, Member("range", RANGE)),
    doc="Max and average pooling; padding takes no part in either. Average rounds half away from zero.",
)


def _read(table: tflite.Pool2DOptions) -> WindowOptions:
    return WindowOptions(
        padding=read_padding(table.Padding()),
        stride_h=table.StrideH(),
        stride_w=table.StrideW(),
        height=table.FilterHeight(),
        width=table.FilterWidth(),
        activation=read_activation(table.FusedActivationFunction()),
    )


OPTIONS = OptionsReader(tflite.Pool2DOptions, tflite.BuiltinOptions.Pool2DOptions, _read)


def _check(operands: Operands) -> Iterator[Problem]:
    options = window_options(operands)
    yield from check_nhwc(operands.first, operands.output)
    yield from check_same_quantisation(operands.first, operands.output)
    yield from check_window(operands, options.height, options.width, operands.first.shape[3])


RULE = Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check)


def pooling_call(kernel: Kernel, operands: Operands) -> KernelCall:
    """Return a call of a pooling kernel.

    Args:
        kernel: A kernel with the descriptor POOL.
        operands: Tensors of the operator.
    """
    options = window_options(operands)
    return KernelCall(
        kernel,
        {
            "input": operands.source,
            "output": operands.output,
            **window_arguments(operands, options.height, options.width),
            "range": output_range(operands.output, options.activation),
        },
    )
