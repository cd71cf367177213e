"""Content of a board: its record, or the bytes read back if the record is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import sha256
from n6build.base.span import Span
from n6build.board.flash.programmer import Identity, Programmer
from n6build.board.flash.record import BoardRecord, doubt, other_format, read_record, without, write_record
from n6build.board.flash.sectors import Sector, runs_of
from n6build.board.flash.verify import read_sectors
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import board_names, load_board

# Ids of errors that a program on the board reports, or that are seen while it runs: its flash may be the reason.
_OF_A_RUN = ("N6-FW-", "N6-RUN-")
# Number of sectors that are read at a time, to limit memory.
_READ_AT_A_TIME = 64


def checked_identity(programmer: Programmer, board: Board) -> Identity:
    """Return the identity of the attached board.

    Raises:
        N6Error: N6-FLASH-013 for another chip; N6-FLASH-014 for another board that n6build knows.
    """
    identity = programmer.identify()
    where = f"probe {programmer.name}"
    if identity.device_id is not None and identity.device_id != board.soc.device_id:
        what = (
            f"the chip has device id 0x{identity.device_id:03X}, but {board.soc.name} has 0x{board.soc.device_id:03X}"
        )
        raise N6Error(
            "N6-FLASH-013",
            what,
            where=where,
            hint="select the attached board with board=NAME; scons boards lists the names",
        )
    check_board(identity.board, board, programmer.name)
    return identity


def check_board(seen: str, board: Board, probe: str) -> None:
    """Check that the attached board is the chosen one.

    Args:
        seen: Name that is printed on the attached board, empty if the programmer does not know it.
        board: The chosen board.
        probe: Name of the probe, for the error.

    Raises:
        N6Error: N6-FLASH-014 for another board that n6build knows.
    """
    for other in map(load_board, board_names()):
        names = {name.casefold() for name in (other.title, other.name, *other.aliases)}
        if other.name != board.name and seen.casefold() in names:
            what = f"this is a {other.title}, not a {board.title}; nothing was programmed"
            hint = f"set board={other.name}, or select another probe with probe="
            raise N6Error("N6-FLASH-014", what, where=f"probe {probe}", hint=hint)


def recorded(programmer: Programmer, board: str) -> BoardRecord:
    """Return the record, empty if it cannot be trusted.

    The board is not read, since its program would have to stop for that.
    """
    return read_record(programmer.record, board) if programmer.still_holds() else BoardRecord(board)


@contextmanager
def doubted_if_it_fails(record: Path, board: str) -> Iterator[None]:
    """Doubt the record if a run in the block fails.

    The next flash then reads the board back and programs wrong sectors. Errors of the block pass through.

    Args:
        record: Path of the board's record.
        board: Name of the board.
    """
    try:
        yield
    except N6Error as error:
        if error.id.startswith(_OF_A_RUN):
            doubt(record, board, f"its last run ended with {error.id}")
        raise


@contextmanager
def writes_noted(programmer: Programmer, board: Board) -> Iterator[None]:
    """Update the record after a run in the block that may write to flash.

    Sectors that the run has changed are removed from the record; others stay. Errors of the block pass
    through.
    """
    before = programmer.memory_state()
    try:
        yield
    finally:
        after = programmer.memory_state()
        record = read_record(programmer.record, board.name)
        if before != after and record.sectors and record.memory_state == before:
            spans = [Span(address, board.nor.sector) for address in sorted(record.sectors)]
            changed = []
            for first in range(0, len(spans), _READ_AT_A_TIME):
                some = spans[first : first + _READ_AT_A_TIME]
                found = zip(some, programmer.read(some), strict=True)
                changed += [span for span, data in found if sha256(data) != record.sectors[span.address]]
            write_record(programmer.record, replace(without(record, changed), memory_state=after))


def held_record(wanted: Sequence[Sector], board: str, programmer: Programmer, identity: Identity) -> BoardRecord:
    """Return the content of the attached board.

    Args:
        wanted: All sectors of the images.
        board: Name of the board.
        programmer: Programmer of the board.
        identity: Identity of the attached board.

    Raises:
        N6Error: If the board cannot be read; it could not be verified, so that it is not programmed.
    """
    record = read_record(programmer.record, board)
    known = BoardRecord(board, record.sectors, identity, record.witnesses)
    doubt = _doubt(record, programmer, identity)
    if not doubt:
        return known
    if not programmer.still_holds():
        return BoardRecord(board, identity=identity)
    say("Read back", f"{board} ({programmer.name})", doubt)
    return BoardRecord(board, _read_back(wanted, programmer), identity)


def _doubt(record: BoardRecord, programmer: Programmer, identity: Identity) -> str:
    """Return the reason why the record may be wrong, empty if there is none."""
    if not record.witnesses or not record.sectors:
        return other_format(programmer.record) or "n6build has no record of it"
    if record.doubt:
        return record.doubt
    if record.memory_state != programmer.memory_state():
        return "its memory was written since the record"
    if _differ(record.identity.board, identity.board) or _differ(record.identity.device_id, identity.device_id):
        return "its record is of another board"
    found = programmer.read([witness.span for witness in record.witnesses])
    for witness, data in zip(record.witnesses, found, strict=True):
        if sha256(data) != witness.sha256:
            return f"its content differs from its record at 0x{witness.span.address:08X}"
    return ""


def _differ(one: str | int | None, other: str | int | None) -> bool:
    """Return true if both values are known and differ."""
    return one not in ("", None) and other not in ("", None) and one != other


def _read_back(wanted: Sequence[Sector], programmer: Programmer) -> dict[int, str]:
    """Return the SHA-256 of sectors on the board.

    The rest of an image is not read if its first and its last sector differ: it is another image.
    """
    held: dict[int, str] = {}
    edges = {sector.address: sector for run in runs_of(wanted) for sector in (run[0], run[-1])}
    held.update(_digests(list(edges.values()), programmer))
    rest = [
        sector
        for run in runs_of(wanted)
        if any(held[edge.address] == edge.sha256 for edge in (run[0], run[-1]))
        for sector in run[1:-1]
    ]
    held.update(_digests(rest, programmer))
    return held


def _digests(sectors: Sequence[Sector], programmer: Programmer) -> dict[int, str]:
    found = read_sectors(sectors, programmer.read)
    return {sector.address: sha256(each) for sector, each in zip(sectors, found, strict=True)}
