"""A board as steps take it that need all of it: those on a board, and the report. Others take what they use as parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.paths import BOARDS, project_path
from n6build.hardware.board import Alias, Board
from n6build.hardware.boards import read_board


@dataclass(frozen=True)
class BoardChoice:
    """clock: name of a clock profile of the chip. alias: of the chip's memories, which the pools are in."""

    clock: str
    alias: Alias


def choice_of(board: Board) -> BoardChoice:
    """What was chosen for the board, for parameters of a step."""
    return BoardChoice(board.clock.name, board.alias)


def board_files(board: Board) -> tuple[str, ...]:
    """board.yaml, then the chip's description with what it includes, then the NOR's."""
    return tuple(map(project_path, board.files))


def boards_folders(board: Board) -> tuple[str, ...]:
    """Folders of board descriptions, with which a connected board is compared; they do not affect what is programmed."""
    return tuple(dict.fromkeys(map(project_path, (board.files[0].parent.parent, BOARDS))))


def chosen_board(sources: Sequence[Path], choice: BoardChoice) -> Board:
    """sources: of a step, including a board.yaml. Raises what `read_board` raises."""
    return board_as_chosen(next(path for path in sources if path.name == "board.yaml"), choice)


def board_as_chosen(file: Path, choice: BoardChoice) -> Board:
    """file: board.yaml. Raises what `read_board` raises."""
    board = read_board(file)
    return replace(board, clock=board.soc.clock(choice.clock), alias=choice.alias)
