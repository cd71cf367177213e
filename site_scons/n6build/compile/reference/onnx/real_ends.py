"""Operators from int8 to int8 that compute with the real numbers in between."""

from __future__ import annotations

from n6build.compile.reference.descriptors import Member
from n6build.compile.reference.kernel_call import Argument
from n6build.compile.reference.onnx.limits import limited_range
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.ranges import RANGE

# Members of a descriptor, in this order.
REAL_MEMBERS = (
    Member("input_scale", "float"),
    Member("output_scale", "float"),
    Member("input_zero_point", "int8_t"),
    Member("range", RANGE),
)


def ends(operands: Operands) -> dict[str, Argument]:
    """Return the arguments for the members ENDS."""
    return {"input": operands.first, "output": operands.output}


def real_arguments(operands: Operands, low: float, high: float) -> dict[str, Argument]:
    """Return the arguments for REAL_MEMBERS.

    Args:
        operands: Operands of the operator.
        low: Lower limit of the output's real numbers.
        high: Upper limit of the output's real numbers.
    """
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    return {
        "input_scale": given.scale,
        "output_scale": target.scale,
        "input_zero_point": given.zero_point,
        "range": limited_range(operands.output, low, high),
    }
