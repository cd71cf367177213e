"""Reader of the journal of images in a board's flash.

The firmware writes it (firmware/trial/n6_journal.h). There are two copies, each at the beginning of
a half of the journal's slot. A copy is a sequence of records; the newest valid record counts.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from n6build.base.c_format import Member, Struct
from n6build.describe.hardware.board import Slot

MAGIC = 0x4A54364E
COPIES = 2
ENTRIES = 20
# Used bytes of a copy: the smallest sector of the part.
COPY_BYTES = 4096
# Subject of the entries for Applis.
APPLI = 0
_SEQUENCES = 1 << 32


class State(IntEnum):
    """State of an image in the journal."""

    UNKNOWN = 0
    TRYING = 1
    CONFIRMED = 2
    FAILED = 3


ENTRY = Struct(
    "n6_journal_entry_t",
    (Member("subject"), Member("image"), Member("state", kind="uint16_t"), Member("starts", kind="uint16_t")),
)
RECORD = Struct(
    "n6_journal_record_t",
    (
        Member("magic"),
        Member("sequence"),
        Member("entries", kind="uint8_t", count=ENTRIES * ENTRY.size),
        Member("reserved"),
        Member("crc32"),
    ),
)


@dataclass(frozen=True)
class Entry:
    """An image in the journal.

    Attributes:
        subject: Kind of image, such as APPLI.
        image: Identity among images of the same subject.
        state: State of the image.
        starts: Number of starts on trial.
    """

    subject: int
    image: int
    state: State
    starts: int


def read_journal(journal: Slot, read: Callable[[int, int], bytes]) -> list[Entry]:
    """Return the entries of the journal, empty if no record is valid.

    Args:
        journal: Slot of the journal.
        read: read(address, bytes) reads the board's flash.
    """
    half = journal.size // COPIES
    copies = [read(journal.address + number * half, COPY_BYTES) for number in range(COPIES)]
    newest: bytes | None = None
    for record in (record for copy in copies for record in _whole_records(copy)):
        if newest is None or 0 < (_sequence(record) - _sequence(newest)) % _SEQUENCES < _SEQUENCES // 2:
            newest = record
    return [] if newest is None else list(_entries(newest))


def _whole_records(copy: bytes) -> Iterator[bytes]:
    for start in range(0, len(copy), RECORD.size):
        record = copy[start : start + RECORD.size]
        values = RECORD.unpack(record)
        if values["magic"] == MAGIC and values["crc32"] == zlib.crc32(record[: RECORD.offset_of("crc32")]):
            yield record


def _sequence(record: bytes) -> int:
    return RECORD.unpack(record)["sequence"]


def _entries(record: bytes) -> Iterator[Entry]:
    for number in range(ENTRIES):
        values = ENTRY.unpack(record, RECORD.offset_of("entries") + number * ENTRY.size)
        # States of a newer firmware have no meaning here.
        if values["state"] in (State.TRYING, State.CONFIRMED, State.FAILED):
            yield Entry(values["subject"], values["image"], State(values["state"]), values["starts"])
