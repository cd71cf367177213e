"""Pairs of boards and models in a matrix."""

from __future__ import annotations

from dataclasses import replace

from n6build.base.errors import N6Error
from n6build.board.flash.receipt import VIRTUAL
from n6build.describe.choices import Choices
from n6build.describe.given_options import options_in_flash
from n6build.describe.hardware.boards import home_of_board, known_boards, load_board
from n6build.describe.model import known_models, load_model, models_folder

ALL = "all"


def pairs_of(choices: Choices, boards: str, models: str) -> list[Choices]:
    """Return the choices of each pair: one application on its own virtual board.

    Pairs whose board lacks the profile are omitted.

    Args:
        choices: choices for all pairs.
        boards: 'all', or names separated by commas.
        models: 'all', or names separated by commas.

    Raises:
        N6Error: N6-OPTION-008 for option mode; N6-OPTION-013 for options of programs not built by
            n6build; N6-BOARD-00x; N6-MODEL-00x.
    """
    if choices.modes:
        raise N6Error("N6-OPTION-008", "a matrix does not accept 'mode': it is for target run", hint="omit mode")
    if choices.is_foreign or choices.until or choices.data:
        what = "a matrix does not accept 'fsbl', 'appli', 'data' and 'until': they are for a run of one application"
        raise N6Error("N6-OPTION-013", what, hint="omit them")
    found = [load_board(name, home_of_board(name)) for name in _names(boards, known_boards())]
    described = [(name, load_model(name, models_folder(name))) for name in _names(models, known_models())]
    return [
        replace(choices, board=board.name, models=(name,), probe=VIRTUAL, pair=model.name)
        for board in found
        if choices.profile in board.profiles()
        for name, model in described
    ]


def options_of_matrix(choices: Choices) -> tuple[str, ...]:
    """Return the choices for all pairs that decide their contents, as options."""
    given = options_in_flash(choices).items()
    return tuple(f"{name}={value}" for name, value in given if name not in ("board", "model"))


def _names(text: str, known: list[str]) -> list[str]:
    return known if text == ALL else text.split(",")
