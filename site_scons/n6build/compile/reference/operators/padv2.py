"""PADV2: padding with a value that the model chooses."""

from __future__ import annotations

from n6build.compile.reference.movement import MOVABLE
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.operators.pad import KERNELS, MOVEMENT, check, lower, padding_of
from n6build.compile.reference.rules import INT32, INT64, Rule

OPERATOR = OperatorKind(
    name="PADV2",
    label="Pad",
    rule=Rule(inputs=(MOVABLE, (*INT32, *INT64), MOVABLE), required=3, constants=(1, 2), output=MOVABLE, check=check),
    lower=lower,
    kernels=KERNELS,
    padding=padding_of,
    fold=MOVEMENT.fold,
)
