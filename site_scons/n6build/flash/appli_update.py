"""An Appli with two flash slots, A and B, with `trial=on`: a new one goes to the slot that is not in use.

In use is the newest that has confirmed itself, by the journal that the board's firmware keeps in flash. Where none has, the
newest that is whole and was not seen to fail stays. The FSBL starts the newest, on trial until it confirms itself, then the other
one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.flash.trial_journal import APPLI, State, read_journal
from n6build.formats.appli_trailer import ALIGNMENT, MAGIC, TRAILER
from n6build.formats.boot_header import BASE, HEADER_BYTES
from n6build.formats.boot_header import MAGIC as HEADER_MAGIC
from n6build.hardware.board import Slot, Trial

_LETTERS = "ab"
# A revision is a word that may wrap.
_REVISIONS = 1 << 32

Read = Callable[[int, int], bytes]


@dataclass(frozen=True)
class AppliUpdate:
    """letter: of the slot, 'a' or 'b'. address: of the slot. stored: the image with its trailer. is_new: False where it is there
    already."""

    letter: str
    address: int
    revision: int
    stored: bytes
    is_new: bool


@dataclass(frozen=True)
class _Content:
    """A whole image. identity: by which the journal knows it."""

    image: bytes
    revision: int
    identity: int


def plan_appli(image: bytes, slots: Sequence[Slot], trial: Trial, read: Read, where: str) -> AppliUpdate:
    """image: with its boot header. slots: A and B. read(address, bytes): of the board's flash. where: name of the image's file.
    One that has failed is tried again, as a new one. Raises N6-TRIAL-003 where it does not fit."""
    _check_room(image, slots[0], where)
    contents = [_content(slot, read) for slot in slots]
    states = {each.image: each.state for each in read_journal(trial.journal, read) if each.subject == APPLI}
    newest = _newest(contents)
    found = None if newest is None else contents[newest]
    if newest is not None and found and found.image == image and states.get(found.identity) != State.FAILED:
        stored = stored_appli(image, found.revision)
        return AppliUpdate(_LETTERS[newest], slots[newest].address, found.revision, stored, is_new=False)
    kept = _kept(contents, states)
    target = 0 if kept is None else 1 - kept
    revision = (found.revision + 1) % _REVISIONS if found else 0
    return AppliUpdate(_LETTERS[target], slots[target].address, revision, stored_appli(image, revision), is_new=True)


def expected_appli(image: bytes, slots: Sequence[Slot], read: Read) -> tuple[int, bytes]:
    """Where this Appli has to be on a board, and the bytes there: in the slot of the newest whole one, in that one's revision; in
    slot A where there is none."""
    contents = [_content(slot, read) for slot in slots]
    newest = _newest(contents)
    found = None if newest is None else contents[newest]
    return slots[newest or 0].address, stored_appli(image, found.revision if found else 0)


def stored_appli(image: bytes, revision: int) -> bytes:
    """The image with its trailer."""
    values = {"magic": int.from_bytes(MAGIC, "little"), "revision": revision}
    trailer = TRAILER.pack(**values, header_crc32=zlib.crc32(image[:HEADER_BYTES]), trailer_crc32=0)
    head = trailer[: TRAILER.offset_of("trailer_crc32")]
    return image.ljust(_trailer_offset(len(image)), b"\0") + head + zlib.crc32(head).to_bytes(4, "little")


def _trailer_offset(image_bytes: int) -> int:
    return -(-image_bytes // ALIGNMENT) * ALIGNMENT


def _check_room(image: bytes, slot: Slot, where: str) -> None:
    beyond = _trailer_offset(len(image)) + TRAILER.size - slot.size
    if beyond > 0:
        what = f"has {len(image)} bytes, with its trailer {beyond} more than slot 'appli' ({slot.size})"
        raise N6Error("N6-TRIAL-003", what, where=where, hint="make both slots larger, or the image smaller")


def _content(slot: Slot, read: Read) -> _Content | None:
    """None where the slot does not hold a whole Appli."""
    header = read(slot.address, HEADER_BYTES)
    base = BASE.unpack(header)
    size = HEADER_BYTES + base["image_bytes"]
    if header[: len(HEADER_MAGIC)] != HEADER_MAGIC or _trailer_offset(size) + TRAILER.size > slot.size:
        return None
    stored = header + read(slot.address + HEADER_BYTES, _trailer_offset(size) + TRAILER.size - HEADER_BYTES)
    image = stored[:size]
    if sum(image[HEADER_BYTES:]) % (1 << 32) != base["checksum"]:
        return None
    trailer = TRAILER.unpack(stored, _trailer_offset(size))
    if stored != stored_appli(image, trailer["revision"]):
        return _Content(image, 0, zlib.crc32(header))
    return _Content(image, trailer["revision"], trailer["trailer_crc32"])


def _newest(contents: Sequence[_Content | None], among: Sequence[int] = (0, 1)) -> int | None:
    """The slot that the firmware tries first."""
    newest: tuple[int, int] | None = None
    for index in among:
        content = contents[index]
        if content and (newest is None or 0 < (content.revision - newest[1]) % _REVISIONS < _REVISIONS // 2):
            newest = index, content.revision
    return newest[0] if newest else None


def _kept(contents: Sequence[_Content | None], states: Mapping[int, State]) -> int | None:
    """The slot that an update leaves alone, None where neither holds an Appli to keep."""

    def having(*wanted: State) -> list[int]:
        return [
            index for index, each in enumerate(contents) if each and states.get(each.identity, State.UNKNOWN) in wanted
        ]

    confirmed = _newest(contents, having(State.CONFIRMED))
    return _newest(contents, having(State.UNKNOWN, State.TRYING)) if confirmed is None else confirmed
