"""Products and quotients of two tensors whose shapes broadcast."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from n6build.compile.reference.broadcasting import BROADCAST_MEMBERS, IN_PLACE, broadcast_arguments
from n6build.compile.reference.descriptors import Kernel, Member, Structure
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE, activation_of, output_range, read_fused_activation
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT8, Problem, Rule

_PRODUCT = Structure(
    "n6k_product_t",
    (
        *BROADCAST_MEMBERS,
        Member("multiplier", "int32_t"),
        Member("shift", "int32_t"),
        Member("a_zero_point", "int8_t"),
        Member("b_zero_point", "int8_t"),
        Member("range", RANGE),
    ),
    doc="(a - a_zero_point) times, or divided by, (b - b_zero_point), scaled to the output; rounding as for convolutions.",
)


def product_operator(
    name: str,
    label: str,
    options: tuple[type, int],
    real: Callable[[np.float32, np.float32, np.float32], np.float32],
    check: Callable[[Operands], Iterator[Problem]],
) -> OperatorKind:
    """Return an operator whose kernel is n6k_<name>, in lower case.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        options: Table with the fused activation, and its code.
        real: Function from the scales of both inputs and the output to the kernel's factor, in
            float32 as the reference resolver computes it.
        check: Check of the operands.
    """
    kernel = Kernel(name.lower(), _PRODUCT, IN_PLACE)

    def lower(operands: Operands) -> KernelCall:
        multiplier, shift = accumulator_multiplier(real_multiplier(operands, real))
        return KernelCall(
            kernel,
            {
                **broadcast_arguments(operands),
                "multiplier": multiplier,
                "shift": shift,
                "a_zero_point": required_quantisation(operands.first).zero_point,
                "b_zero_point": required_quantisation(operands.required(1)).zero_point,
                "range": output_range(operands.output, activation_of(operands)),
            },
        )

    reader = OptionsReader(*options, read_fused_activation)
    return OperatorKind(
        name, label, Rule((INT8, INT8), 2, (), INT8, check, first_may_be_constant=True), lower, (kernel,), reader
    )


def real_multiplier(operands: Operands, real: Callable[[np.float32, np.float32, np.float32], np.float32]) -> float:
    """Return the factor that the kernel scales with.

    Args:
        operands: Tensors of the operator.
        real: Function as for `product_operator`.
    """
    tensors = (operands.first, operands.required(1), operands.output)
    return float(real(*(np.float32(required_quantisation(tensor).scale) for tensor in tensors)))
