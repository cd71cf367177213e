"""The kind of an operator that only moves elements."""

from __future__ import annotations

from n6build.compile.reference.graph import DType
from n6build.compile.reference.movement import MOVABLE, MOVE, Movement
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import Rule


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
    """Return an operator that only moves elements.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        movement: The movement of its elements.
        inputs: Allowed types by position, as in `Rule`; all inputs are required.
        constants: Positions that have to hold constants, as in `Rule`.
        options: Reader of the operator's options, or None.
        source: Position of the input that is moved.
        several_outputs: True if the operator has several outputs.
    """
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
