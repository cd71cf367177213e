"""Parts that ADD and SUB of int16 share.

The two only differ in the sign of the second operand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import tflite

from n6build.compile.reference import int16
from n6build.compile.reference.broadcasting import IN_PLACE, broadcast_arguments, broadcast_members, check_broadcast
from n6build.compile.reference.descriptors import Kernel, Member, Structure
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.ranges import Activation, read_activation
from n6build.compile.reference.rules import INT16, Problem, Rule
from n6build.compile.reference.sums import SCALING_MEMBERS, scaling_arguments

# Left shift of the reference resolver for int16.
_LEFT_SHIFT = 15

KERNEL = Kernel(
    "sum_int16",
    Structure(
        "n6k_sum_int16_t",
        (
            *broadcast_members("int16_t"),
            *SCALING_MEMBERS,
            Member("b_sign", "int32_t", note="1 or -1"),
            Member("range", int16.RANGE),
        ),
        doc="a + b or a - b, scaled as n6k_sum_t.",
    ),
    IN_PLACE,
)


@dataclass(frozen=True)
class _Options:
    """Options of ADD and SUB.

    Attributes:
        activation: The fused activation.
        powers_of_two: True if scales that are powers of two may be computed by shifts, with other
            bits.
    """

    activation: Activation
    powers_of_two: bool


def read(table: tflite.AddOptions | tflite.SubOptions) -> _Options:
    """Read the options of ADD or SUB.

    Raises:
        DamagedError: The code of the activation does not exist.
        UnsupportedError: The activation is not supported.
    """
    return _Options(read_activation(table.FusedActivationFunction()), bool(table.PotScaleInt16()))


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_broadcast(operands)
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
    """Return the function that makes the kernel call of an operator.

    Args:
        minus: True for a difference.
    """

    def lower(operands: Operands) -> KernelCall:
        options = operands.operator.options
        assert isinstance(options, _Options)
        return KernelCall(
            KERNEL,
            {
                **broadcast_arguments(operands),
                **scaling_arguments(operands.first, operands.required(1), operands.output, _LEFT_SHIFT),
                "b_sign": -1 if minus else 1,
                "range": int16.output_range(operands.output, options.activation),
            },
        )

    return lower
