"""What ADD and SUB of int16 have in common: all but the sign of the second operand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import tflite

from n6build.network.reference import int16
from n6build.network.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.network.reference.kernel_call import KernelCall, operand
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.ranges import Activation, read_activation
from n6build.network.reference.rules import INT16, Problem, Rule
from n6build.network.reference.sums import SCALING_MEMBERS, scaling_arguments

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
            *(Member(name, "uint32_t") for name in ("elements", "elements_b")),
            *SCALING_MEMBERS,
            Member("b_sign", "int32_t", note="1 or -1"),
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
        return KernelCall(
            KERNEL,
            {
                "a": operand(a),
                "b": operand(b),
                "output": operands.output,
                "elements": a.elements,
                "elements_b": b.elements,
                **scaling_arguments(a, b, operands.output, _LEFT_SHIFT),
                "b_sign": -1 if minus else 1,
                "range": int16.output_range(operands.output, options.activation),
            },
        )

    return lower
