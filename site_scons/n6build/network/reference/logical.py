"""Two conditions as one: their elements are 0 and 1, of which the smaller or the larger one is the result."""

from __future__ import annotations

from dataclasses import replace

from n6build.network.reference.broadcasting import check_broadcast
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.rules import BOOL, Rule


def logical(name: str, label: str, extreme: OperatorKind) -> OperatorKind:
    """extreme: the operator of int8 whose kernel does it."""
    rule = Rule((BOOL, BOOL), 2, (), BOOL, check_broadcast, first_may_be_constant=True)
    return replace(extreme, name=name, label=label, rule=rule)
