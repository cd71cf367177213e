"""Known content of a board: a hash for each sector.

A record is replaced only after the sectors were verified.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.files import sha256, to_json, write_atomically
from n6build.base.regular_file import content_of
from n6build.base.span import Span
from n6build.board.flash.programmer import UNKNOWN, Identity
from n6build.board.flash.sectors import Sector

# Witnesses of an image are its header, which has a checksum of the rest if the boot ROM reads it, and the end of its data, which
# has the checksum of n6build's images of weights. These few bytes show if another program has programmed the board.
_HEAD_BYTES = 1024
_TAIL_BYTES = 64
_ERASED = b"\xff"
# Format of the file. Records of n6build 0.4 and 0.5 have this format, but do not contain it.
FORMAT = 1


@dataclass(frozen=True)
class Witness:
    """A few bytes that would differ if another image had been programmed there."""

    span: Span
    sha256: str


@dataclass(frozen=True)
class BoardRecord:
    """Known content of a board.

    Attributes:
        board: Name of the board.
        sectors: Address in the memory-mapped window -> SHA-256 of the whole sector.
        identity: Identity of the board.
        witnesses: Bytes to check before the record is trusted.
        memory_state: State from the programmer when the record was written.
        doubt: Later reason why the sectors may be wrong, empty if there is none.
    """

    board: str
    sectors: Mapping[int, str] = field(default_factory=dict)
    identity: Identity = UNKNOWN
    witnesses: tuple[Witness, ...] = ()
    memory_state: str = ""
    doubt: str = ""


def records_folder() -> Path:
    """Return the folder with the records of this user's real boards."""
    return user_state_path("n6build") / "boards"


def record_of_probe(serial: str) -> Path:
    """Return the path of a board's record, the same for every programmer."""
    return records_folder() / f"{serial}.json"


def witnesses_of(sectors: Sequence[Sector]) -> tuple[Witness, ...]:
    """Return head and tail of each image."""
    witnesses = []
    for _, parts in itertools.groupby(sectors, key=lambda sector: sector.image):
        run = list(parts)
        end = max(_end_of_data(run), _TAIL_BYTES)
        for part, at in ((_part(run, 0, _HEAD_BYTES), 0), (_part(run, end - _TAIL_BYTES, end), end - _TAIL_BYTES)):
            witnesses.append(Witness(Span(run[0].address + at, len(part)), sha256(part)))
    return tuple(witnesses)


def _end_of_data(run: Sequence[Sector]) -> int:
    """Return the bytes from the start of an image to its last byte that is not erased."""
    end = sum(sector.size for sector in run)
    for sector in reversed(run):
        kept = len(sector.data.rstrip(_ERASED))
        end -= sector.size - kept
        if kept:
            break
    return end


def _part(run: Sequence[Sector], first: int, last: int) -> bytes:
    """Return the bytes [first, last) of an image, up to its end."""
    size = run[0].size
    held = b"".join(sector.data for sector in run[first // size : -(-last // size)])
    before = first // size * size
    return held[first - before : last - before]


def read_record(path: Path, board: str) -> BoardRecord:
    """Read the record of a board.

    The record is empty if the file is missing, damaged, of another kind of board or in another format.

    Args:
        path: The file.
        board: Name of the board.
    """
    try:
        values: Any = parse_json(content_of(path))
        if values["board"] != board or values.get("format", FORMAT) != FORMAT:
            return BoardRecord(board)
        sectors = {int(address, 16): str(digest) for address, digest in values["sectors"].items()}
        witnesses = tuple(
            Witness(Span(int(each["address"], 16), int(each["size"])), str(each["sha256"]))
            for each in values["witnesses"]
        )
        device_id = values["identity"]["device_id"]
        identity = Identity(str(values["identity"]["board"]), None if device_id is None else int(device_id, 16))
        state, doubt = str(values.get("memory_state", "")), str(values.get("doubt", ""))
        return BoardRecord(board, sectors, identity, witnesses, state, doubt)
    except (OSError, *WRONG_FIELDS):
        return BoardRecord(board)


def other_format(path: Path) -> str:
    """Return the unreadable format of a record in words.

    The text is empty if the format is readable, or without a record.
    """
    try:
        values: Any = parse_json(content_of(path))
        found = values.get("format", FORMAT)
        if "sectors" in values and "witnesses" not in values:
            return "its record was written by n6build 0.3"
        return (
            "" if found == FORMAT else f"its record is in format {found:d} of another n6build, this one reads {FORMAT}"
        )
    except (OSError, *WRONG_FIELDS):
        return ""


def write_record(path: Path, record: BoardRecord) -> None:
    """Write a record as JSON, for `read_record`; it is on the disk on return.

    Raises:
        N6Error: N6-FILE-001.
    """
    write_atomically(path, _as_json(record), durable=True)


def doubt(path: Path, board: str, why: str) -> None:
    """Make the next flash check the content of the board.

    Args:
        path: The record.
        board: Name of the board.
        why: Reason in words.

    Raises:
        N6Error: N6-FILE-001.
    """
    record = read_record(path, board)
    if record.sectors and record.doubt != why:
        write_record(path, replace(record, doubt=why))


def forget(path: Path, board: str, spans: Sequence[Span]) -> None:
    """Make the next flash program these sectors again.

    Raises:
        N6Error: N6-FILE-001.
    """
    record = read_record(path, board)
    after = without(record, spans)
    if after != record:
        write_record(path, after)


def without(record: BoardRecord, spans: Iterable[Span]) -> BoardRecord:
    """Return the record without these sectors, for the time of their programming."""
    gone = {span.address: span.address + span.size for span in spans}
    kept = tuple(
        witness
        for witness in record.witnesses
        if not any(
            witness.span.address < end and start < witness.span.address + witness.span.size
            for start, end in gone.items()
        )
    )
    held = {address: digest for address, digest in record.sectors.items() if address not in gone}
    return replace(record, sectors=held, witnesses=kept)


def having(record: BoardRecord, sectors: Sequence[Sector]) -> BoardRecord:
    """Return the record of a board that is known to hold all these sectors."""
    before = without(record, (Span(sector.address, sector.size) for sector in sectors))
    held = {**before.sectors, **{sector.address: sector.sha256 for sector in sectors}}
    return replace(before, sectors=held, witnesses=(*before.witnesses, *witnesses_of(sectors)))


def _as_json(record: BoardRecord) -> str:
    identity = record.identity
    optional = {"memory_state": record.memory_state, "doubt": record.doubt}
    return to_json(
        {
            "format": FORMAT,
            "board": record.board,
            "identity": {
                "board": identity.board,
                "device_id": None if identity.device_id is None else f"0x{identity.device_id:03X}",
            },
            "sectors": {f"0x{address:08X}": digest for address, digest in sorted(record.sectors.items())},
            "witnesses": [
                {"address": f"0x{each.span.address:08X}", "size": each.span.size, "sha256": each.sha256}
                for each in sorted(record.witnesses, key=lambda each: (each.span.address, each.span.size))
            ],
            **{name: value for name, value in optional.items() if value},
        }
    )
