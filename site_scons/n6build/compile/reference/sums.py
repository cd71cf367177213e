"""Sums and differences of two tensors in the reference resolver's arithmetic.

Both operands are brought to one scale first.
"""

from __future__ import annotations

from n6build.compile.reference.broadcasting import BROADCAST_MEMBERS, IN_PLACE, broadcast_arguments, check_broadcast
from n6build.compile.reference.descriptors import Kernel, Member, Structure
from n6build.compile.reference.fixed_point import ScaleError, quantize_multiplier
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE, activation_of, output_range
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT8, Rule

# Members of a descriptor, in this order.
SCALING_MEMBERS = (
    Member("left_shift", "int32_t"),
    *(Member(f"{which}_{what}", "int32_t") for which in ("a", "b", "out") for what in ("multiplier", "shift")),
)
_SUM = Structure(
    "n6k_sum_t",
    (
        *BROADCAST_MEMBERS,
        *SCALING_MEMBERS,
        Member("a_zero_point", "int8_t"),
        Member("b_zero_point", "int8_t"),
        Member("range", RANGE),
    ),
    doc="Each input: ((x - zero_point) << left_shift) scaled by its multiplier; the sum, the difference or its square scaled to "
    "the output. Shifts here are <= 0 as TensorFlow Lite computes them.",
)


def sum_operator(
    name: str, label: str, options: OptionsReader | None, left_shift: int = 20, power: int = 1
) -> OperatorKind:
    """Return an operator whose kernel is n6k_<name>, in lower case.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        options: Reader of the operator's options, or None.
        left_shift: Left shift of the reference resolver for int8.
        power: Power to which the sum is raised.
    """
    kernel = Kernel(name.lower(), _SUM, IN_PLACE)

    def lower(operands: Operands) -> KernelCall:
        return KernelCall(kernel, _arguments(operands, left_shift, power))

    rule = Rule((INT8, INT8), 2, (), INT8, check_broadcast, first_may_be_constant=True)
    return OperatorKind(name, label, rule, lower, (kernel,), options)


def _arguments(operands: Operands, left_shift: int, power: int) -> dict[str, Argument]:
    """Return the arguments of the kernel.

    Raises:
        ScaleError: The scale of the sum is too large.
    """
    a, b = operands.first, operands.required(1)
    return {
        **broadcast_arguments(operands),
        **scaling_arguments(a, b, operands.output, left_shift, power),
        "a_zero_point": required_quantisation(a).zero_point,
        "b_zero_point": required_quantisation(b).zero_point,
        "range": output_range(operands.output, activation_of(operands)),
    }


def scaling_arguments(a: Tensor, b: Tensor, output: Tensor, left_shift: int, power: int = 1) -> dict[str, Argument]:
    """Return the arguments for SCALING_MEMBERS.

    `left_shift` and `power` are as for `sum_operator`.

    Raises:
        ScaleError: The sum would be scaled by 1 or more.
    """
    scale_a, scale_b = required_quantisation(a).scale, required_quantisation(b).scale
    twice = 2 * max(scale_a, scale_b)
    real_output = (twice / (1 << left_shift)) ** power / required_quantisation(output).scale
    if real_output >= 1:
        raise ScaleError(f"its sum would be scaled by {real_output:g}, it has to be less than 1")
    arguments: dict[str, Argument] = {"left_shift": left_shift}
    for which, real in (("a", scale_a / twice), ("b", scale_b / twice), ("out", real_output)):
        arguments[f"{which}_multiplier"], arguments[f"{which}_shift"] = quantize_multiplier(real)
    return arguments
