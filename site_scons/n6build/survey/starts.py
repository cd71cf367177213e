"""Starts of each FSBL of a folder with each Appli, on the virtual board.

A program has a limit of guest time, so that a start ends however it fares, and two surveys give the same
rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from n6build.base.console import clipped
from n6build.base.errors import N6Error
from n6build.base.walk import Tree
from n6build.board.run.stops import stops_of
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.findings_file import State
from n6build.board.virtual_board.run import Limits, NorBoot, RunResult, run_nor
from n6build.describe.hardware.board import Board
from n6build.describe.option import PlacedFile
from n6build.place.image.foreign import Piece, Role, elf_of, flash_pieces, started_program
from n6build.place.image.program_board import program_board
from n6build.survey.images import FoundImage, find_images
from n6build.survey.kinds import Kind, Row, Wishes

# Most FSBLs have started their Appli after ten million instructions.
LIMITS = Limits(50_000_000, None)
_CODE_BYTES = 32
# Findings and waits that the text shows; JSON has all.
_SHOWN = 3
Stage = Literal["nothing", "FSBL", "Appli"]
End = Literal["runs", "until", "locks up", "ends", "silent", "refused"]
_ENDS: dict[str, End] = {"timeout": "runs", "until": "until", "silent": "silent"}


@dataclass(frozen=True)
class Pair:
    """Programs that start together.

    Attributes:
        fsbl: File with an FSBL.
        appli: File with an Appli; None if the other file has both.
    """

    fsbl: Path
    appli: Path | None


@dataclass(frozen=True)
class Started:
    """The result of a start.

    Attributes:
        reached: Last stage whose first instruction was executed; 'nothing' if the files were refused.
        ended: 'runs' if the program still runs at the limit of guest time, 'until' at that of the console's text.
        why: Reason of a refusal.
        lines: Lines of the console.
        findings: Kinds of the findings, in the order in which they first came.
        texts: The findings.
        stops: Explanations of the place where the program stopped, or of what it waits for.
        stored: Number of registers that no model answers.
        at: Last place of the program.
        instructions: Executed instructions.
    """

    reached: Stage
    ended: End
    why: str = ""
    lines: int = 0
    findings: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    stored: int = 0
    at: str = ""
    instructions: int = 0


def start(
    pair: Pair,
    board: Board,
    data: Sequence[PlacedFile] = (),
    *,
    limits: Limits = LIMITS,
    copied_by_ours: bool = False,
    strict: bool = False,
) -> Started:
    """Start a pair, and return how far it comes.

    Args:
        pair: The programs.
        board: Board of the start.
        data: More files for the NOR, such as weights.
        limits: Limits of guest time.
        copied_by_ours: The FSBL is n6build's, which copies an Appli to one place.
        strict: Both programs were built by n6build, and enable all clocks that they use.
    """
    facts = program_board(board)
    given: list[tuple[Path, Role, int | None]] = [(pair.fsbl, "fsbl", None)]
    given += [(pair.appli, "appli", None)] if pair.appli else []
    given += [(Path(each.path), "data", each.address) for each in data]
    appli = pair.appli or pair.fsbl
    try:
        pieces = [
            piece
            for path, role, address in given
            for piece in flash_pieces(path, role, facts, address, copied_by_ours=copied_by_ours)
        ]
        program = started_program(appli, "appli", facts, copied_by_ours=copied_by_ours)
        entry = program.reset & ~1 if program else None
        elves = [elf for path in dict.fromkeys((pair.fsbl, appli)) if (elf := elf_of(path))]
        with tempfile.TemporaryDirectory(prefix="n6build-survey-") as folder:
            nor = Path(folder) / "nor.bin"
            _write_nor(nor, board, pieces)
            result = run_nor(
                find_emulator(board.soc),
                NorBoot(nor, board, strict_clocks=strict),
                programs=elves,
                stop=lambda _: False,
                limits=limits,
                stops=() if entry is None else (entry,),
            )
    except N6Error as error:
        return Started("nothing", "refused", f"{error.id}: {error.what}")
    kinds = tuple(dict.fromkeys(finding.kind for finding in result.findings))
    is_reached = any(_is_own_code(state, entry, pieces) for state in result.stops.functions)
    return Started(
        "Appli" if is_reached else "FSBL",
        _ENDS.get(result.ended, "locks up" if "lockup" in kinds else "ends"),
        lines=len(result.lines),
        findings=kinds,
        texts=tuple(str(finding) for finding in result.findings),
        stops=_stops(board, elves, result, entry),
        stored=len(result.unmodelled),
        at=result.at,
        instructions=result.instructions,
    )


def _write_nor(path: Path, board: Board, pieces: Sequence[Piece]) -> None:
    content = bytearray(b"\xff") * board.nor.size
    for piece in pieces:
        start = piece.address - board.nor.base
        content[start : start + len(piece.data)] = piece.data
    path.write_bytes(content)


def _is_own_code(state: State, entry: int | None, pieces: Sequence[Piece]) -> bool:
    """Return whether a stop is the Appli's first instruction.

    An FSBL that copies too little also jumps there, to something else.
    """
    if entry is None or state.registers[15] != entry:
        return False
    address, code = state.code
    first = code[entry - address :][:_CODE_BYTES]
    return len(set(first)) > 1 and any(first in piece.data for piece in pieces)


def _stops(board: Board, elves: Sequence[Path], result: RunResult, entry: int | None) -> tuple[str, ...]:
    """Return the explanations, without one of the Appli's entry."""
    functions = tuple(state for state in result.stops.functions if state.registers[15] != entry)
    stops = replace(result.stops, functions=functions)
    shown = stops_of(board, elves, replace(result, stops=stops), ended_early=True)
    return tuple(f"{each.verb}: {each.text}" for each in shown)


def _find(tree: Tree, wishes: Wishes) -> tuple[Pair, ...]:
    """Return the files with both programs, and each FSBL with each Appli."""
    images = [image for image in find_images(tree, wishes.board) if not image.fault]
    whole = [Pair(image.file, None) for image in images if image.has("fsbl") and image.has("appli")]
    first, second = (_alone(images, role) for role in ("fsbl", "appli"))
    return (*whole, *(Pair(fsbl, appli) for fsbl in first for appli in second))


def _alone(images: Sequence[FoundImage], role: str) -> list[Path]:
    return [image.file for image in images if {part.role for part in image.parts} - {""} == {role}]


def _place_of(pair: Pair) -> Path:
    return pair.fsbl


def _look_at(pair: Pair, tree: Tree, wishes: Wishes) -> Row:
    started = start(pair, wishes.board, wishes.data)
    place = " + ".join(str(each.relative_to(tree.root)) for each in (pair.fsbl, pair.appli) if each)
    cells = {
        "reached": started.reached,
        "then": started.ended,
        "lines": str(started.lines) if started.lines else "",
        "findings": ", ".join(started.findings),
        "at": started.at,
    }
    told = (*started.texts, *started.stops)
    more = len(told) - _SHOWN
    notes = (
        *([started.why] if started.why else []),
        *(clipped(text, 400) for text in told[:_SHOWN]),
        *([f"and {more} more; --json has all"] if more > 0 else []),
    )
    return Row(place, cells, notes, {"place": place} | asdict(started), tuple(_counts(started)))


def _counts(started: Started) -> Iterator[str]:
    yield {"nothing": "refused", "FSBL": "stay in the FSBL", "Appli": "start the Appli"}[started.reached]
    if started.ended in ("locks up", "ends"):
        yield "end early"


STARTS: Kind[Pair] = Kind(
    name="starts",
    columns={"reached": 7, "then": 8, "lines": 5, "findings": 30, "at": 12},
    find=_find,
    place_of=_place_of,
    look_at=_look_at,
    counts=("start the Appli", "stay in the FSBL", "refused", "end early"),
    only_runs=True,
)
