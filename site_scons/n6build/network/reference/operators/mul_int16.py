"""MUL of int16."""

from __future__ import annotations

import tflite

from n6build.network.reference import int16
from n6build.network.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.network.reference.fixed_point import accumulator_multiplier
from n6build.network.reference.kernel_call import KernelCall, operand
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.options import OptionsReader
from n6build.network.reference.ranges import activation_of, read_fused_activation
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


def _lower(operands: Operands) -> KernelCall:
    a, b = int16.by_size(operands)
    scales = required_quantisation(a).scale * required_quantisation(b).scale
    multiplier, shift = accumulator_multiplier(scales / required_quantisation(operands.output).scale)
    return KernelCall(
        _KERNEL,
        {
            "a": operand(a),
            "b": operand(b),
            "output": operands.output,
            "elements": a.elements,
            "elements_b": b.elements,
            "multiplier": multiplier,
            "shift": shift,
            "range": int16.output_range(operands.output, activation_of(operands)),
        },
    )


OPERATOR = OperatorKind(
    name="MUL int16",
    label="Mul",
    options=OptionsReader(tflite.MulOptions, tflite.BuiltinOptions.MulOptions, read_fused_activation),
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
