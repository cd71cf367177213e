"""MUL of int16."""

from __future__ import annotations

import tflite

from n6build.network.reference import int16
from n6build.network.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.network.reference.fixed_point import accumulator_multiplier
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.options import OptionsReader
from n6build.network.reference.ranges import ActivationOptions, read_activation
from n6build.network.reference.rules import INT16, Rule

_KERNEL = Kernel(
    "mul_int16",
    Structure(
        "n6k_mul_int16_t",
        (
            Member("a", reads("int16_t")),
            Member("b", reads("int16_t")),
            Member("output", writes("int16_t")),
            Member("elements", "uint32_t"),
            Member("elements_b", "uint32_t"),
            Member("multiplier", "int32_t"),
            Member("shift", "int32_t"),
            Member("range", int16.RANGE),
        ),
        doc="b is repeated where it has fewer elements. Rounding: double.",
    ),
)


def _read(table: tflite.MulOptions) -> ActivationOptions:
    return ActivationOptions(read_activation(table.FusedActivationFunction()))


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, ActivationOptions)
    a, b = int16.by_size(operands)
    scales = required_quantisation(a).scale * required_quantisation(b).scale
    multiplier, shift = accumulator_multiplier(scales / required_quantisation(operands.output).scale)
    return KernelCall(
        _KERNEL,
        {
            "a": int16.operand(a),
            "b": int16.operand(b),
            "output": operands.output,
            "elements": a.elements,
            "elements_b": b.elements,
            "multiplier": multiplier,
            "shift": shift,
            "range": int16.output_range(operands.output, options.activation),
        },
    )


OPERATOR = OperatorKind(
    name="MUL int16",
    label="Mul",
    options=OptionsReader(tflite.MulOptions, tflite.BuiltinOptions.MulOptions, _read),
    rule=Rule(
        inputs=(INT16, INT16),
        required=2,
        constants=(),
        output=INT16,
        check=int16.check_repeats,
        first_may_be_constant=True,
    ),
    lower=_lower,
    kernels=(_KERNEL,),
)
