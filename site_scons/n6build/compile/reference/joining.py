"""Operators that join several tensors into one.

Each input has a call of its own, with its place in the output.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.movement import MOVABLE, MOVE, Movement
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import Problem, Rule, check_same_quantisation

# Limit on the inputs, above that of the largest model seen. The reader's limit is the same.
_MOST = 64


def joining(name: str, label: str, movement: Movement, options: OptionsReader) -> OperatorKind:
    """Return an operator that moves all its inputs into one output.

    Any input may be a constant.
    """

    def check(operands: Operands) -> Iterator[Problem]:
        yield from movement.check(operands)
        for position in range(len(operands.inputs)):
            yield from check_same_quantisation(operands.required(position), operands.output)

    return OperatorKind(
        name=name,
        label=label,
        rule=Rule(
            inputs=(MOVABLE,),
            required=1,
            constants=(),
            output=MOVABLE,
            check=check,
            first_may_be_constant=True,
            most=_MOST,
            quantised=False,
        ),
        lower=movement.lower,
        kernels=(MOVE,),
        options=options,
        view=movement.view,
        parts=movement.parts,
        fold=movement.fold,
    )
