"""The kind of an operator that only moves elements."""

from __future__ import annotations

from n6build.network.reference.graph import DType
from n6build.network.reference.movement import MOVABLE, MOVE, Movement
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.options import OptionsReader
from n6build.network.reference.rules import Rule


def moving(
    name: str,
    label: str,
    movement: Movement,
    inputs: tuple[tuple[DType, ...], ...],
    *,
    constants: tuple[int, ...] = (),
    options: OptionsReader | None = None,
    source: int = 0,
    several_outputs: bool = False,
) -> OperatorKind:
    """inputs, constants: as in `Rule`; all inputs are required. source: the position of the input that is moved."""
    return OperatorKind(
        name=name,
        label=label,
        rule=Rule(
            inputs=inputs,
            required=len(inputs),
            constants=constants,
            output=MOVABLE,
            check=movement.check,
            first_may_be_constant=source > 0,
            quantised=False,
        ),
        lower=movement.lower,
        kernels=(MOVE,),
        options=options,
        view=movement.view,
        several_outputs=several_outputs,
        viewed=source,
        fold=movement.fold,
    )
