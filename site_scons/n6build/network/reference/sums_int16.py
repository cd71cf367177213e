"""What ADD and SUB of int16 have in common: all but the sign of the second operand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import tflite

from n6build.network.reference import int16
from n6build.network.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.network.reference.fixed_point import ScaleError, quantize_multiplier
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.ranges import Activation, read_activation
from n6build.network.reference.rules import INT16, Problem, Rule

# Of the reference resolver, for int16.
_LEFT_SHIFT = 15

KERNEL = Kernel(
    "sum_int16",
    Structure(
        "n6k_sum_int16_t",
        (
            Member("a", reads("int16_t")),
            Member("b", reads("int16_t")),
            Member("output", writes("int16_t")),
            Member("elements", "uint32_t"),
            Member("elements_b", "uint32_t"),
            Member("left_shift", "int32_t"),
            Member("a_multiplier", "int32_t"),
            Member("a_shift", "int32_t"),
            Member("b_multiplier", "int32_t"),
            Member("b_shift", "int32_t"),
            Member("b_sign", "int32_t", note="1 or -1"),
            Member("out_multiplier", "int32_t"),
            Member("out_shift", "int32_t"),
            Member("range", int16.RANGE),
        ),
        doc="a + b or a - b, scaled as n6k_add_t; b is repeated where it has fewer elements.",
    ),
)


@dataclass(frozen=True)
class _Options:
    """powers_of_two: scales that are powers of two may be computed by shifts, with other bits."""

    activation: Activation
    powers_of_two: bool


def read(table: tflite.AddOptions | tflite.SubOptions) -> _Options:
    """Raises DamagedError and UnsupportedError."""
    return _Options(read_activation(table.FusedActivationFunction()), bool(table.PotScaleInt16()))


def _check(operands: Operands) -> Iterator[Problem]:
    yield from int16.check_repeats(operands)
    options = operands.operator.options
    assert isinstance(options, _Options)
    scales = [required_quantisation(each).scale for each in (operands.first, operands.required(1), operands.output)]
    if options.powers_of_two and all(math.frexp(scale)[0] == 0.5 for scale in scales):
        yield Problem(
            "N6-NET-008",
            "scales that are powers of two by shifts are not supported",
            "convert with pot_scale_int16 = false",
        )


RULE = Rule(inputs=(INT16, INT16), required=2, constants=(), output=INT16, check=_check, first_may_be_constant=True)


def lowering(minus: bool) -> Callable[[Operands], KernelCall]:
    """minus: of a difference, for which the second operand must not be the larger one."""

    def lower(operands: Operands) -> KernelCall:
        options = operands.operator.options
        assert isinstance(options, _Options)
        a, b = int16.by_size(operands)
        scale_a, scale_b = required_quantisation(a).scale, required_quantisation(b).scale
        twice = 2 * max(scale_a, scale_b)
        real_output = twice / ((1 << _LEFT_SHIFT) * required_quantisation(operands.output).scale)
        if real_output >= 1:
            raise ScaleError(f"its sum would be scaled by {real_output:g}, it has to be less than 1")
        pairs = map(quantize_multiplier, (scale_a / twice, scale_b / twice, real_output))
        (a_multiplier, a_shift), (b_multiplier, b_shift), (out_multiplier, out_shift) = pairs
        return KernelCall(
            KERNEL,
            {
                "a": int16.operand(a),
                "b": int16.operand(b),
                "output": operands.output,
                "elements": a.elements,
                "elements_b": b.elements,
                "left_shift": _LEFT_SHIFT,
                "a_multiplier": a_multiplier,
                "a_shift": a_shift,
                "b_multiplier": b_multiplier,
                "b_shift": b_shift,
                "b_sign": -1 if minus else 1,
                "out_multiplier": out_multiplier,
                "out_shift": out_shift,
                "range": int16.output_range(operands.output, options.activation),
            },
        )

    return lower
