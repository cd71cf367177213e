"""Programming of missing sectors, with a correct record after any interruption."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.console import kib
from n6build.base.errors import N6Error
from n6build.base.file_lock import try_lock
from n6build.base.size_text import counted
from n6build.base.span import Span
from n6build.board.flash.programmer import Programmer
from n6build.board.flash.receipt import VIRTUAL, VIRTUAL_RECORD
from n6build.board.flash.record import BoardRecord, having, read_record, without, write_record
from n6build.board.flash.sectors import Sector, bytes_of, runs_of, sectors_to_program

# Bytes of a sector that are checked, next to a sector that was programmed.
_EDGE_BYTES = 64


@dataclass(frozen=True)
class FlashPlan:
    """Sectors to program.

    Attributes:
        wanted: All sectors of the images.
        lacking: Sectors that the board does not hold yet.
        record: Known content of the board.
    """

    wanted: tuple[Sector, ...]
    lacking: tuple[Sector, ...]
    record: BoardRecord


def plan_delta(wanted: Sequence[Sector], record: BoardRecord) -> FlashPlan:
    """Plan to program the missing sectors.

    Args:
        wanted: All sectors of the images.
        record: Known content of the board.
    """
    return FlashPlan(tuple(wanted), tuple(sectors_to_program(wanted, record.sectors)), record)


def plan_all(wanted: Sequence[Sector], record: BoardRecord) -> FlashPlan:
    """Plan to program all sectors, even those that the board already holds.

    Args:
        wanted: All sectors of the images.
        record: Known content of the board.
    """
    return FlashPlan(tuple(wanted), tuple(wanted), record)


def describe(plan: FlashPlan, seconds_a_sector: float) -> list[str]:
    """Return lines on runs of sectors, bytes and about how long programming takes."""
    lines = []
    for run in runs_of(plan.lacking):
        end = run[-1].address + run[-1].size
        lines.append(f"0x{run[0].address:08X}..0x{end:08X}, {counted(len(run), 'sector')}, {kib(end - run[0].address)}")
    seconds = len(plan.lacking) * seconds_a_sector
    lines.append(
        f"{len(plan.lacking)} of {counted(len(plan.wanted), 'sector')}, {kib(bytes_of(plan.lacking))}, about {seconds:.0f} s"
    )
    return lines


def lacking_now(wanted: Sequence[Sector], board: str, records: Sequence[Path]) -> tuple[str, int, int] | None:
    """Return the last used board of this kind, and the sectors and bytes it lacks.

    Args:
        wanted: All sectors of the images.
        board: Name of the kind of board.
        records: Paths of records; the most recently written one of this kind of board is used.

    Returns:
        Name of the board, number of sectors and bytes; None if no such board is known.
    """
    known = [(path.stat().st_mtime, path) for path in records if path.is_file()]
    for _, path in sorted(known, reverse=True):
        record = read_record(path, board)
        if record.sectors:
            lacking = sectors_to_program(wanted, record.sectors)
            name = VIRTUAL if path.name == VIRTUAL_RECORD else path.stem
            return name, len(lacking), bytes_of(lacking)
    return None


def carry_out(plan: FlashPlan, programmer: Programmer, first: Collection[int] = ()) -> BoardRecord:
    """Program and verify the missing sectors, and return the new record.

    A sector is removed from the record before it is touched. It comes back after it was verified.

    Args:
        plan: Sectors to program.
        programmer: Programmer of the board.
        first: Addresses of images that are programmed and verified before all others are touched.

    Raises:
        N6Error: N6-FLASH-015 if a neighbour has changed; errors of the programmer.
    """
    path = programmer.record
    during = without(plan.record, _touched(plan))
    if plan.lacking:
        write_record(path, during)
        for is_first in (True, False):
            if sectors := [sector for sector in plan.lacking if (sector.image in first) == is_first]:
                programmer.program(sectors)
                programmer.verify(sectors)
        _check_neighbours(plan, programmer)
    after = replace(having(during, plan.wanted), memory_state=programmer.memory_state())
    if plan.lacking or after != read_record(path, after.board):
        write_record(path, after)
    return after


def _touched(plan: FlashPlan) -> list[Span]:
    """Return the sectors to program and their neighbours.

    Only neighbours that belong to the images are checked afterwards.
    """
    touched = []
    for sector in plan.lacking:
        size = sector.size
        touched += [Span(sector.address + step, size) for step in (-size, 0, size)]
    return touched


def _check_neighbours(plan: FlashPlan, programmer: Programmer) -> None:
    """Raise N6-FLASH-015 if programming has changed a neighbouring sector.

    An erase beyond a sector of the board's description would leave a wrong record.
    """
    lacking = {sector.address for sector in plan.lacking}
    edges = []
    for run in runs_of(plan.wanted):
        for one, behind in itertools.pairwise(run):
            if one.address in lacking and behind.address not in lacking:
                edges.append((behind.address, behind.data[:_EDGE_BYTES]))
            if behind.address in lacking and one.address not in lacking:
                edges.append((behind.address - _EDGE_BYTES, one.data[-_EDGE_BYTES:]))
    if not edges:
        return
    found = programmer.read([Span(address, len(data)) for address, data in edges])
    for (address, data), held in zip(edges, found, strict=True):
        if held != data:
            write_record(programmer.record, BoardRecord(plan.record.board))
            what = f"programming changed 0x{address:08X}, which is outside the programmed sectors"
            hint = "correct nor.sector in board.yaml: the programmer erases more at once; then run scons flash again"
            raise N6Error("N6-FLASH-015", what, where=f"probe {programmer.name}", hint=hint)


@contextmanager
def board_lock(programmer: Programmer) -> Iterator[None]:
    """Keep other builds away from the board during the block.

    Raises:
        N6Error: N6-FLASH-002, without a wait, if the board is in use.
    """
    path = programmer.record.with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        if not try_lock(file.fileno()):
            raise N6Error(
                "N6-FLASH-002",
                f"another build is using board '{programmer.name}'",
                hint="wait until it ends, then run the command again",
            )
        yield
