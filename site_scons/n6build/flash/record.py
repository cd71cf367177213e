"""What a probe's board is believed to hold: per sector a hash. Replaced only after the sectors were verified."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.files import sha256, to_json, write_atomically
from n6build.base.span import Span
from n6build.flash.programmer import UNKNOWN, Identity
from n6build.flash.sectors import Sector

# Of an image: its header, which has a checksum of the rest where the boot ROM reads it, and the end of its data, where n6build's
# images of weights have theirs. So a few bytes show whether somebody else has programmed the board.
_HEAD_BYTES = 1024
_TAIL_BYTES = 64
_ERASED = b"\xff"
# Of the file. Those of n6build 0.4 and 0.5 are in this one and do not say so.
FORMAT = 1


@dataclass(frozen=True)
class Witness:
    """A few bytes that would differ if somebody had programmed another image over them."""

    span: Span
    sha256: str


@dataclass(frozen=True)
class BoardRecord:
    """sectors: address in the memory-mapped window -> SHA-256 of the whole sector. memory_state: of the programmer when this was
    written. doubt: why the sectors may be wrong, found since; empty where nothing speaks against them."""

    board: str
    sectors: Mapping[int, str] = field(default_factory=dict)
    identity: Identity = UNKNOWN
    witnesses: tuple[Witness, ...] = ()
    memory_state: str = ""
    doubt: str = ""


def records_folder() -> Path:
    """With the records of the real boards that this user has programmed."""
    return user_state_path("n6build") / "boards"


def record_of_probe(serial: str) -> Path:
    """Path of the record, the same for every programmer."""
    return records_folder() / f"{serial}.json"


def witnesses_of(sectors: Sequence[Sector]) -> tuple[Witness, ...]:
    """Head and tail of each image."""
    witnesses = []
    for _, parts in itertools.groupby(sectors, key=lambda sector: sector.image):
        run = list(parts)
        end = max(_end_of_data(run), _TAIL_BYTES)
        for part, at in ((_part(run, 0, _HEAD_BYTES), 0), (_part(run, end - _TAIL_BYTES, end), end - _TAIL_BYTES)):
            witnesses.append(Witness(Span(run[0].address + at, len(part)), sha256(part)))
    return tuple(witnesses)


def _end_of_data(run: Sequence[Sector]) -> int:
    """Bytes from the start of an image to its last that is not erased."""
    end = sum(sector.size for sector in run)
    for sector in reversed(run):
        kept = len(sector.data.rstrip(_ERASED))
        end -= sector.size - kept
        if kept:
            break
    return end


def _part(run: Sequence[Sector], first: int, last: int) -> bytes:
    """Bytes [first, last) of an image, as far as it reaches."""
    size = run[0].size
    held = b"".join(sector.data for sector in run[first // size : -(-last // size)])
    before = first // size * size
    return held[first - before : last - before]


def read_record(path: Path, board: str) -> BoardRecord:
    """board: its name. A record that is missing, damaged, of another kind of board or in another format means that nothing is
    known."""
    try:
        values: Any = parse_json(path.read_bytes())
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
    """Which format a record is in that this n6build cannot read, in words; empty where it can, or where there is none."""
    try:
        values: Any = parse_json(path.read_bytes())
        found = values.get("format", FORMAT)
        if "sectors" in values and "witnesses" not in values:
            return "its record was written by n6build 0.3"
        return (
            "" if found == FORMAT else f"its record is in format {found:d} of another n6build, this one reads {FORMAT}"
        )
    except (OSError, *WRONG_FIELDS):
        return ""


def write_record(path: Path, record: BoardRecord) -> None:
    """As JSON, for `read_record`; on the disk when this returns. Raises N6-FILE-001."""
    write_atomically(path, _as_json(record), durable=True)


def doubt(path: Path, board: str, why: str) -> None:
    """Has the next flash look at what the board really holds. board: its name. why: in words. Raises N6-FILE-001."""
    record = read_record(path, board)
    if record.sectors and record.doubt != why:
        write_record(path, replace(record, doubt=why))


def forget(path: Path, board: str, spans: Sequence[Span]) -> None:
    """Has the next flash program these sectors again, whatever the record says of them. Raises N6-FILE-001."""
    record = read_record(path, board)
    after = without(record, spans)
    if after != record:
        write_record(path, after)


def without(record: BoardRecord, spans: Iterable[Span]) -> BoardRecord:
    """The record while these sectors are being programmed, and nothing is known of them."""
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
    """The record of a board that is known to hold all these sectors."""
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
