"""ADD: the sum of two tensors of one shape, or of a tensor and a single element."""

from __future__ import annotations

from collections.abc import Iterator

import tflite

from n6build.network.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.network.reference.fixed_point import ScaleError, quantize_multiplier
from n6build.network.reference.graph import Tensor
from n6build.network.reference.kernel_call import KernelCall, Parameter
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.options import OptionsReader
from n6build.network.reference.ranges import RANGE, ActivationOptions, output_range, read_activation
from n6build.network.reference.rules import INT8, Problem, Rule, shown

# Of the reference resolver, for int8.
_LEFT_SHIFT = 20

_KERNEL = Kernel(
    "add",
    Structure(
        "n6k_add_t",
        (
            Member("a", reads("int8_t")),
            Member("b", reads("int8_t")),
            Member("output", writes("int8_t")),
            Member("elements", "uint32_t"),
            Member("elements_b", "uint32_t"),
            Member("left_shift", "int32_t"),
            Member("a_multiplier", "int32_t"),
            Member("a_shift", "int32_t"),
            Member("b_multiplier", "int32_t"),
            Member("b_shift", "int32_t"),
            Member("out_multiplier", "int32_t"),
            Member("out_shift", "int32_t"),
            Member("a_zero_point", "int8_t"),
            Member("b_zero_point", "int8_t"),
            Member("range", RANGE),
        ),
        doc="Each input: ((x - zero_point) << left_shift) scaled by its multiplier; the sum scaled to the output. Same "
        "shapes, or one operand of a single element (elements_b == 1). Shifts here are <= 0 as TensorFlow Lite computes them.",
    ),
    in_place=("a", "b"),
)


def _read(table: tflite.AddOptions) -> ActivationOptions:
    return ActivationOptions(read_activation(table.FusedActivationFunction()))


def _check(operands: Operands) -> Iterator[Problem]:
    first, second = operands.first, operands.required(1)
    single = 1 in (first.elements, second.elements)
    most = max(first.elements, second.elements)
    if not (first.shape == second.shape or single) or operands.output.elements != most:
        yield Problem(
            "N6-NET-007",
            f"tensors {shown(first)} {list(first.shape)} and {shown(second)} {list(second.shape)} are not of one shape",
            "broadcasting is supported for a single element only",
        )


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, ActivationOptions)
    a, b = sorted((operands.first, operands.required(1)), key=lambda tensor: -tensor.elements)
    scale_a, scale_b = required_quantisation(a).scale, required_quantisation(b).scale
    twice = 2 * max(scale_a, scale_b)
    real_output = twice / ((1 << _LEFT_SHIFT) * required_quantisation(operands.output).scale)
    if real_output >= 1:
        raise ScaleError(f"its sum would be scaled by {real_output:g}, it has to be less than 1")
    (a_multiplier, a_shift), (b_multiplier, b_shift), (out_multiplier, out_shift) = map(
        quantize_multiplier, (scale_a / twice, scale_b / twice, real_output)
    )
    return KernelCall(
        _KERNEL,
        {
            "a": _operand(a),
            "b": _operand(b),
            "output": operands.output,
            "elements": a.elements,
            "elements_b": b.elements,
            "left_shift": _LEFT_SHIFT,
            "a_multiplier": a_multiplier,
            "a_shift": a_shift,
            "b_multiplier": b_multiplier,
            "b_shift": b_shift,
            "out_multiplier": out_multiplier,
            "out_shift": out_shift,
            "a_zero_point": required_quantisation(a).zero_point,
            "b_zero_point": required_quantisation(b).zero_point,
            "range": output_range(operands.output, options.activation),
        },
    )


def _operand(tensor: Tensor) -> Tensor | Parameter:
    return tensor if tensor.data is None else Parameter(tensor, "constant")


OPERATOR = OperatorKind(
    name="ADD",
    label="Add",
    options=OptionsReader(tflite.AddOptions, tflite.BuiltinOptions.AddOptions, _read),
    rule=Rule(inputs=(INT8, INT8), required=2, constants=(), output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
