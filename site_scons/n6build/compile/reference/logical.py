"""Logical operators of two conditions.

Elements are 0 and 1. The result is the smaller or the larger of the two.
"""

from __future__ import annotations

from dataclasses import replace

from n6build.compile.reference.broadcasting import check_broadcast
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import BOOL, Rule


def logical(name: str, label: str, extreme: OperatorKind) -> OperatorKind:
    """Return a logical operator of two conditions.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        extreme: Operator of int8 whose kernel computes the result.
    """
    rule = Rule((BOOL, BOOL), 2, (), BOOL, check_broadcast, first_may_be_constant=True)
    return replace(extreme, name=name, label=label, rule=rule)
