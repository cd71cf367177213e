"""Programs what a board lacks, in an order that leaves a correct record whenever it is interrupted."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from n6build.console import kib
from n6build.errors import N6Error
from n6build.flash.programmer import Programmer
from n6build.flash.record import BoardRecord, read_record, without, write_record
from n6build.flash.sectors import Sector, sectors_to_program, wanted_sectors
from n6build.flash.virtual import VIRTUAL_RECORD
from n6build.image.manifest import FlashManifest


@dataclass(frozen=True)
class FlashPlan:
    """wanted: all sectors of the manifest. lacking: those that the board does not hold yet."""

    wanted: tuple[Sector, ...]
    lacking: tuple[Sector, ...]
    record: BoardRecord


def plan_flash(manifest: FlashManifest, folder: Path, programmer: Programmer) -> FlashPlan:
    return plan_sectors(wanted_sectors(manifest, folder), manifest.board, programmer)


def plan_sectors(wanted: Sequence[Sector], board: str, programmer: Programmer) -> FlashPlan:
    record = current_record(programmer, board)
    return FlashPlan(tuple(wanted), tuple(sectors_to_program(wanted, record.sectors)), record)


def plan_all(wanted: Sequence[Sector], board: str, programmer: Programmer) -> FlashPlan:
    """Whatever the board is believed to hold."""
    return FlashPlan(tuple(wanted), tuple(wanted), current_record(programmer, board))


def describe(plan: FlashPlan, seconds_a_sector: float) -> list[str]:
    """Lines for somebody who wants to know before it is done: runs of sectors, bytes, and about how long."""
    runs: list[list[Sector]] = []
    for sector in plan.lacking:
        if runs and runs[-1][-1].address + len(runs[-1][-1].data) == sector.address:
            runs[-1].append(sector)
        else:
            runs.append([sector])
    lines = []
    for run in runs:
        end = run[-1].address + len(run[-1].data)
        lines.append(f"0x{run[0].address:08X}..0x{end:08X}, {counted(len(run))}, {kib(end - run[0].address)}")
    size = sum(len(sector.data) for sector in plan.lacking)
    seconds = len(plan.lacking) * seconds_a_sector
    lines.append(f"{len(plan.lacking)} of {counted(len(plan.wanted))}, {kib(size)}, about {seconds:.0f} s")
    return lines


def counted(sectors: int) -> str:
    return "1 sector" if sectors == 1 else f"{sectors} sectors"


def lacking_now(wanted: Sequence[Sector], board: str, records: Sequence[Path]) -> tuple[str, int, int] | None:
    """records: of boards, the most recently written one of this kind of board counts. Returns its name, sectors and bytes that
    it lacks; None where no such board is known."""
    known = [(path.stat().st_mtime, path) for path in records if path.is_file()]
    for _, path in sorted(known, reverse=True):
        record = read_record(path, board)
        if record.sectors:
            lacking = sectors_to_program(wanted, record.sectors)
            name = "virtual" if path.name == VIRTUAL_RECORD else path.stem
            return name, len(lacking), sum(len(sector.data) for sector in lacking)
    return None


def current_record(programmer: Programmer, board: str) -> BoardRecord:
    return read_record(programmer.record_path(), board) if programmer.still_holds() else BoardRecord(board)


def carry_out(plan: FlashPlan, programmer: Programmer) -> BoardRecord:
    """Returns the record of the board afterwards. Before a sector is touched it is struck from the record."""
    if not plan.lacking:
        return plan.record
    addresses = [sector.address for sector in plan.lacking]
    during = without(plan.record, addresses)
    path = programmer.record_path()
    write_record(path, during)
    programmer.program(plan.lacking)
    after = BoardRecord(during.board, {**during.sectors, **{sector.address: sector.sha256 for sector in plan.lacking}})
    write_record(path, after)
    return after


@contextmanager
def board_lock(programmer: Programmer) -> Iterator[None]:
    """Keeps a second build off the same board. Raises N6-FLASH-002 at once where the board is taken."""
    path = programmer.record_path().with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise N6Error(
                "N6-FLASH-002", f"another build is using board '{programmer.name}'", hint="wait for it to end"
            ) from error
        yield
