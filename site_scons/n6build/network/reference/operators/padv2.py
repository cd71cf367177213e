"""PADV2: a PAD by a value of the model's choice."""

from __future__ import annotations

from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.operators.pad import KERNEL, check, lower, padding_of
from n6build.network.reference.rules import INT8, INT32, Rule

OPERATOR = OperatorKind(
    name="PADV2",
    label="Pad",
    rule=Rule(inputs=(INT8, INT32, INT8), required=3, constants=(1, 2), output=INT8, check=check),
    lower=lower,
    kernels=(KERNEL,),
    padding=padding_of,
)
