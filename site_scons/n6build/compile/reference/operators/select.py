"""SELECT: the first element where a condition is true, else the second.

A condition of one dimension has one entry for each index of the elements' first dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from n6build.compile.reference.operands import Operands
from n6build.compile.reference.selecting import selection

_Made = TypeVar("_Made")
_OF_ANY_SHAPE = selection("SELECT", "Select")


def _by_first_dimension(do: Callable[[Operands], _Made]) -> Callable[[Operands], _Made]:
    def changed(operands: Operands) -> _Made:
        condition, *others = operands.inputs
        rank = len(operands.output.shape)
        if condition is not None and len(condition.shape) == 1:
            condition = replace(condition, shape=(*condition.shape, *(1,) * (rank - 1)))
        return do(replace(operands, inputs=(condition, *others)))

    return changed


OPERATOR = replace(
    _OF_ANY_SHAPE,
    rule=replace(_OF_ANY_SHAPE.rule, check=_by_first_dimension(_OF_ANY_SHAPE.rule.check)),
    lower=_by_first_dimension(_OF_ANY_SHAPE.lower),
)
