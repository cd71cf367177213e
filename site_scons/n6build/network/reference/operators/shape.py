"""SHAPE: the sizes of a tensor, which are known when the network is compiled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.movement import MOVABLE, Array
from n6build.network.reference.operands import Operands
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.rules import INT32, INT64, Problem, Rule, shown


def _fold(operands: Operands) -> Array | None:
    given = operands.optional(0)
    return None if given is None else np.array(given.shape, operands.output.dtype)


def _check(operands: Operands) -> Iterator[Problem]:
    yield Problem(
        "N6-NET-007",
        f"tensor {shown(operands.output)} holds a shape, and leaves the network",
        "convert the model without that output: its value is always the same",
    )


def _lower(_: Operands) -> KernelCall:
    raise AssertionError("it is folded, or refused")


OPERATOR = OperatorKind(
    name="SHAPE",
    label="Shape",
    rule=Rule(
        inputs=(MOVABLE,),
        required=1,
        constants=(),
        output=(*INT32, *INT64),
        check=_check,
        first_may_be_constant=True,
        quantised=False,
    ),
    lower=_lower,
    kernels=(),
    fold=_fold,
)
