"""Comparisons of two tensors, element by element.

Quantised elements are compared by the real values that they represent. Their scales may differ.

Operators:
    EQUAL: true where two elements are equal. The shapes of the tensors broadcast.
    GREATER: true where the first element is greater than the second. The shapes of the tensors
        broadcast.
    GREATER_EQUAL: true where the first element is at least the second. The shapes of the tensors
        broadcast.
    LESS: true where the first element is less than the second. The shapes of the tensors broadcast.
    LESS_EQUAL: true where the first element is at most the second. The shapes of the tensors
        broadcast.
    NOT_EQUAL: true where two elements differ. The shapes of the tensors broadcast.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.broadcasting import broadcast_arguments, broadcast_members, check_broadcast
from n6build.compile.reference.descriptors import Member, Structure, enumeration, kernel_with
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.fixed_point import ScaleError, quantize_multiplier
from n6build.compile.reference.graph import DType, Tensor
from n6build.compile.reference.kernel_call import KernelCall, fields_of
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import BOOL, CONVERT, Problem, Rule, shown

# Relations of one element to another, one bit each.
_RELATIONS = {"LESS": 1, "EQUAL": 2, "GREATER": 4, "UNORDERED": 8}
# Types of elements, with the number of each in a descriptor.
_TYPES: dict[DType, int] = {"int8": 0, "bool": 1, "int32": 2, "int64": 3, "float32": 4}

_COMPARED = Structure(
    "n6k_compared_t", (Member("multiplier", "int32_t"), Member("shift", "int32_t"), Member("zero_point", "int8_t"))
)
_KERNEL = kernel_with(
    "compare",
    *broadcast_members("void", output="uint8_t"),
    Member("scale_a", _COMPARED),
    Member("scale_b", _COMPARED),
    Member("type", "uint8_t", note="N6K_COMPARE_..."),
    Member("relations", "uint8_t", note="those for which the output is 1"),
    doc="Two elements of one type compared. int8: ((x - zero_point) << 8) scaled by its multiplier.",
    definitions=enumeration("N6K_COMPARE", _TYPES) + enumeration("N6K", _RELATIONS),
)


def _comparison(name: str, label: str, *relations: str) -> OperatorKind:
    """Return an operator that compares two tensors.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        relations: Relations of the first to the second element for which the result is true, by
            their names in C.
    """
    types = tuple(dtype for dtype in _TYPES if dtype != "bool" or ("LESS" in relations) == ("GREATER" in relations))

    def lower(operands: Operands) -> KernelCall:
        a, b = operands.first, operands.required(1)
        return KernelCall(
            _KERNEL,
            {
                **broadcast_arguments(operands),
                "scale_a": _scaling(a),
                "scale_b": _scaling(b),
                "type": _TYPES[a.dtype],
                "relations": sum(_RELATIONS[relation] for relation in relations),
            },
        )

    rule = Rule((types, types), 2, (), BOOL, _check, first_may_be_constant=True)
    return OperatorKind(name, label, rule, lower, (_KERNEL,))


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_broadcast(operands)
    a, b = operands.first, operands.required(1)
    if a.dtype != b.dtype:
        yield Problem("N6-NET-004", f"tensor {shown(b)} has another type than {shown(a)}", CONVERT)


def _scaling(tensor: Tensor) -> Fields:
    """Return the scaling of an operand.

    Raises:
        ScaleError: The scale is 1 or more, at which the reference resolver stops.
    """
    multiplier = shift = zero_point = 0
    if tensor.dtype == "int8":
        quantisation = required_quantisation(tensor)
        if quantisation.scale >= 1:
            raise ScaleError(f"tensor {shown(tensor)} has the scale {quantisation.scale:g}, it has to be less than 1")
        (multiplier, shift), zero_point = quantize_multiplier(quantisation.scale), quantisation.zero_point
    return fields_of(_COMPARED, {"multiplier": multiplier, "shift": shift, "zero_point": zero_point})


OPERATORS = (
    _comparison("EQUAL", "Equal", "EQUAL"),
    _comparison("GREATER", "Greater", "GREATER"),
    _comparison("GREATER_EQUAL", "GreaterEqual", "GREATER", "EQUAL"),
    _comparison("LESS", "Less", "LESS"),
    _comparison("LESS_EQUAL", "LessEqual", "LESS", "EQUAL"),
    _comparison("NOT_EQUAL", "NotEqual", "LESS", "GREATER", "UNORDERED"),
)
