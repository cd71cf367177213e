"""LOGISTIC and TANH of int16, by one table of the logistic function.

Operators:
    LOGISTIC int16: 1 / (1 + e^-x) of int16 elements.
    TANH int16: the hyperbolic tangent of int16 elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import Kernel, Member, Structure, of_type, reads
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, ends
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import INT16, QUANTISE, Problem, Rule, check_elementwise, shown

# The table has a 16-bit entry for each 24th up to 255/24. In the reference resolver's table, the entries named here are one
# more than the rounded value (derived from its results; tests/network/test_int16.py compares every argument).
_STEPS = 24
_RAISED = (
    *(4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37, 39, 40, 41, 43, 44, 45, 46, 49),
    *(50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255),
)


def _table() -> NDArray[np.uint16]:
    entries = np.rint(65536 / (1 + np.exp(-np.arange(256) / _STEPS)))
    entries[list(_RAISED)] += 1
    return entries.astype(np.uint16)


_TABLE = _table()
_OUTPUT_SCALE = 2.0**-15
_INPUT_INTEGER_BITS = 3

_DESCRIPTOR = Structure(
    "n6k_table_int16_t",
    (
        *int16.ENDS,
        Member("table", reads("int16_t"), note="unsigned"),
        Member("elements", "uint32_t"),
        *of_type("int32_t", "multiplier", "right_shift"),
    ),
    doc="The argument is input * multiplier / 2^right_shift; table: 256 entries of the logistic function.",
)


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_elementwise(operands)
    scale = required_quantisation(operands.output).scale
    if not math.isclose(scale, _OUTPUT_SCALE, rel_tol=1e-6):
        what = f"tensor {shown(operands.output)} has the scale {scale:g}; it has to be 2^-15"
        yield Problem("N6-NET-006", what, QUANTISE)


def _scaling(scale: float, powers: tuple[int, ...]) -> tuple[int, int]:
    """Return (multiplier, right shift) of an input, as in the reference resolver.

    A scale of 2^(p - 12), with p in `powers`, becomes a factor without a shift. Other scales become a
    multiplier of 15 bits and a shift.
    """
    mantissa, exponent = math.frexp(scale)
    left = 15 - _INPUT_INTEGER_BITS + exponent - 1
    if mantissa == 0.5 and left in powers:
        return 3 << left, 0
    multiplier, shift = scale * 4096.0 * 3.0, 0
    while multiplier <= 32767.0 / 2.0 and shift <= 30:
        multiplier, shift = multiplier * 2.0, shift + 1
    return int(multiplier), shift


def _function(name: str, label: str, kernel_name: str, powers: tuple[int, ...]) -> OperatorKind:
    """Return an operator of int16 that computes by the table.

    Args:
        name: Name of the operator's kind.
        label: Name of the operator in reports.
        kernel_name: Name of the kernel.
        powers: Powers of two for `_scaling`.
    """
    kernel = Kernel(kernel_name, _DESCRIPTOR)

    def lower(operands: Operands) -> KernelCall:
        multiplier, shift = _scaling(required_quantisation(operands.first).scale, powers)
        arguments: dict[str, Argument] = {
            **ends(operands),
            "table": Constant("int16", _TABLE.view(np.int16)),
            "elements": operands.first.elements,
            "multiplier": multiplier,
            "right_shift": shift,
        }
        return KernelCall(kernel, arguments)

    rule = Rule(inputs=(INT16,), required=1, constants=(), output=INT16, check=_check)
    return OperatorKind(name, label, rule, lower, (kernel,))


OPERATORS = (
    _function("LOGISTIC int16", "Logistic", "logistic_int16", powers=(0,)),
    _function("TANH int16", "Tanh", "tanh_int16", powers=(0, 1)),
)
