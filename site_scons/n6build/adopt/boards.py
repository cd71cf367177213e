"""Search for the board of a program by the names in its script."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from n6build.adopt.programs import Program
from n6build.base.files import files_in, read_at_most
from n6build.describe.hardware.boards import home_of_board, known_boards, load_board

_IOC_BOARD = re.compile(r"^board=(.{1,100})$", re.MULTILINE)
_MAX_BYTES = 4 << 20
# Names of ST's board support packages and external loaders that differ from the board's own.
_OF_ST = {"nucleo-n657": ("stm32n6xx_nucleo", "stm32n6570-nucleo", "nucleo-n657x0")}


@dataclass(frozen=True)
class BoardName:
    """A board of n6build, with the evidence for it.

    Attributes:
        evidence: place that names the board.
    """

    name: str
    evidence: str


def board_of(program: Program, root: Path) -> BoardName | None:
    """Return the board of a program.

    The most specific place that names exactly one board decides.
    """
    spellings = _spellings()
    for evidence, texts in _evidence(program, root):
        found = {board for text in texts for board, names in spellings.items() if any(name in text for name in names)}
        if len(found) == 1:
            return BoardName(found.pop(), evidence)
    return None


def _spellings() -> dict[str, tuple[str, ...]]:
    boards = {}
    for name in known_boards():
        board = load_board(name, home_of_board(name))
        boards[name] = tuple(_plain(each) for each in (board.title, name, *board.aliases, *_OF_ST.get(name, ())))
    return boards


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _evidence(program: Program, root: Path) -> Iterable[tuple[str, list[str]]]:
    yield "its board support package", [_plain(word) for word in program.words if "BSP/" in word]
    yield "the name of its folder", [_plain(str(program.folder.relative_to(root)))]
    yield "STM32CubeMX", [_plain(board) for board in _ioc_boards(program.folder, root)]
    # A copied project often keeps the board that it was made for.
    yield "the settings of its project", [_plain(program.board)]
    yield "its flags", [_plain(program.flags[:_MAX_BYTES])]
    yield "the name of the project", [_plain(root.absolute().name)]


def _ioc_boards(folder: Path, root: Path) -> list[str]:
    found = []
    for place in (folder, *folder.parents):
        for path in files_in(place, "*.ioc"):
            found += _IOC_BOARD.findall(read_at_most(path, _MAX_BYTES).decode("utf-8", "replace"))
        if place == root or found:
            break
    return found
