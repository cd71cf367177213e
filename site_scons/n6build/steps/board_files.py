"""The board as an input of steps that need its whole description.

These are the steps on a board, and the report. Other steps take the values they use as parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.paths import BOARDS, project_path
from n6build.describe.hardware.board import Alias, Board
from n6build.describe.hardware.boards import read_board


@dataclass(frozen=True)
class BoardChoice:
    """Choices of the user for a board.

    Attributes:
        clock: Name of a clock profile of the chip.
        alias: Alias of the chip's memories that the pools are in.
    """

    clock: str
    alias: Alias


def choice_of(board: Board) -> BoardChoice:
    """Return the choices made for the board, as parameters of a step."""
    return BoardChoice(board.clock.name, board.alias)


def board_files(board: Board) -> tuple[str, ...]:
    """Return the description files of the board.

    The order is board.yaml, the chip's description with the files it includes, then the NOR's.
    """
    return tuple(map(project_path, board.files))


def boards_folders(board: Board) -> tuple[str, ...]:
    """Return the folders of descriptions that a connected board is compared with.

    They do not affect the programmed bytes.
    """
    return tuple(dict.fromkeys(map(project_path, (board.files[0].parent.parent, BOARDS))))


def chosen_board(sources: Sequence[Path], choice: BoardChoice) -> Board:
    """Return the board of a step's sources, with the choices applied.

    Args:
        sources: Sources of a step, including a board.yaml.
        choice: Choices of the user.

    Raises:
        N6Error: The errors of `read_board`.
    """
    return board_as_chosen(next(path for path in sources if path.name == "board.yaml"), choice)


def board_as_chosen(file: Path, choice: BoardChoice) -> Board:
    """Return the board of a description file, with the choices applied.

    Args:
        file: Path of board.yaml.
        choice: Choices of the user.

    Raises:
        N6Error: The errors of `read_board`.
    """
    board = read_board(file)
    return replace(board, clock=board.soc.clock(choice.clock), alias=choice.alias)
