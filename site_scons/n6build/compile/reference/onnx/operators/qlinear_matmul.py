"""QLinearMatMul: rows of inputs times a matrix of weights.

It is computed as a convolution whose window is one element.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.descriptors import SHAPE
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.kernel_call import KernelCall, fields_of
from n6build.compile.reference.onnx.limits import LimitOptions, limited_range
from n6build.compile.reference.onnx.operators.qlinear_conv import CONV, check_sums, conv_arguments, window_fields
from n6build.compile.reference.onnx.windowing import Windowing
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import INT8, INT32, Problem, Rule, shown
from n6build.compile.reference.windows import MAX_DIMENSION

_WEIGHTS = 1


def _check(operands: Operands) -> Iterator[Problem]:
    outputs, inputs = operands.required(_WEIGHTS).shape
    rows = operands.first.elements // inputs
    if max(rows, inputs, outputs) > MAX_DIMENSION:
        what = f"tensor {shown(operands.first)} has {rows} rows of {inputs}, times {outputs}"
        yield Problem("N6-NET-005", what, f"reduce it to {MAX_DIMENSION} at most")
    yield from check_sums(operands)


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, LimitOptions)
    outputs, inputs = operands.required(_WEIGHTS).shape
    rows = operands.first.elements // inputs
    one = Windowing((1, 1), (1, 1), (1, 1), (0, 0), (0, 0))
    arguments = {
        **conv_arguments(operands, 1, 1, inputs),
        "in": _row_shape(rows, inputs),
        "out": _row_shape(rows, outputs),
        "window": window_fields(one, 1, 1),
        "groups": 1,
        "input_zero_point": required_quantisation(operands.first).zero_point,
        "range": limited_range(operands.output, options.low, options.high),
    }
    return KernelCall(CONV, arguments, macs=rows * inputs * outputs)


def _row_shape(rows: int, channels: int) -> Fields:
    return fields_of(SHAPE, {"height": 1, "width": rows, "channels": channels})


OPERATOR = OperatorKind(
    name="QLinearMatMul",
    label="QLinearMatMul",
    rule=Rule(inputs=(INT8, INT8, INT32), required=3, constants=(1, 2), output=INT8, check=_check),
    lower=_lower,
    kernels=(CONV,),
)
