"""Operators on int32 tensors, without scales.

Models use them to compute positions.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.broadcasting import IN_PLACE, broadcast_arguments, broadcast_members, check_broadcast
from n6build.compile.reference.descriptors import Kernel, Structure
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import activation_of
from n6build.compile.reference.rules import INT32, Problem, Rule

_INTEGERS = Structure(
    "n6k_integers_t",
    broadcast_members("int32_t"),
    doc="Of two int32 operands. Sums, differences and products are modulo 2^32; a quotient by 0 is 0.",
)


_FUNCTIONS: dict[str, np.ufunc] = {
    "ADD": np.add,
    "FLOOR_DIV": np.floor_divide,
    "FLOOR_MOD": np.mod,
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
    "MUL": np.multiply,
    "SUB": np.subtract,
}


def integer_operator(name: str, label: str) -> OperatorKind:
    """Return an operator whose kernel is n6k_<name>_int32, in lower case.

    With two constants, as in the computation of shapes, its output is a constant.
    """
    kernel = Kernel(f"{name.lower()}_int32", _INTEGERS, IN_PLACE)

    def lower(operands: Operands) -> KernelCall:
        return KernelCall(kernel, broadcast_arguments(operands))

    def fold(operands: Operands) -> NDArray[np.int32] | None:
        a, b = operands.first.data, operands.required(1).data
        if a is None or b is None or {a.dtype, b.dtype} != {np.dtype(np.int32)} or next(_check(operands), None):
            return None
        if name not in _FUNCTIONS or (name.startswith("FLOOR") and not b.all()):
            return None
        with np.errstate(over="ignore"):
            return np.asarray(_FUNCTIONS[name](a, b, dtype=np.int32))

    rule = Rule((INT32, INT32), 2, (), INT32, _check, first_may_be_constant=True)
    return OperatorKind(name, label, rule, lower, (kernel,), fold=fold)


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_broadcast(operands)
    activation = activation_of(operands)
    if activation != "NONE":
        yield Problem("N6-NET-007", f"activation {activation} is not supported for int32", "supported: NONE")
