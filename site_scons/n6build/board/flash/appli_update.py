"""Update of an Appli with two flash slots, A and B, with `trial=on`.

A new Appli goes to the slot that is not in use. The newest confirmed Appli is used; the firmware
confirms it in a journal in flash. Without a confirmed Appli, the newest valid one that has not
failed stays; without that one, the newest valid one, which the FSBL starts as the last resort. The
FSBL starts the newest Appli, on trial until it confirms itself, then the other one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.board.flash.trial_journal import APPLI, State, read_journal
from n6build.describe.formats.appli_trailer import ALIGNMENT, MAGIC, TRAILER
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES
from n6build.describe.formats.boot_header import MAGIC as HEADER_MAGIC
from n6build.describe.hardware.board import Slot, Trial

_LETTERS = "ab"
# A revision is a 32-bit word that may wrap.
_REVISIONS = 1 << 32

Read = Callable[[int, int], bytes]


@dataclass(frozen=True)
class AppliUpdate:
    """An Appli and the slot that it goes to.

    Attributes:
        letter: Letter of the slot, 'a' or 'b'.
        address: Address of the slot.
        revision: Revision in the trailer.
        stored: Image with its trailer.
        is_new: False if the slot already holds it.
    """

    letter: str
    address: int
    revision: int
    stored: bytes
    is_new: bool


@dataclass(frozen=True)
class _Content:
    """A valid image in a slot; the journal knows it by its identity."""

    image: bytes
    revision: int
    identity: int


def plan_appli(image: bytes, slots: Sequence[Slot], trial: Trial, read: Read, where: str) -> AppliUpdate:
    """Choose slot and revision of an Appli.

    An Appli that has failed is tried again, as a new one.

    Args:
        image: Image with its boot header.
        slots: Slots A and B.
        trial: Trial settings of the board, with the journal's slot.
        read: read(address, bytes) reads the board's flash.
        where: Name of the image's file, for the error.

    Raises:
        N6Error: N6-TRIAL-003 if the image does not fit into a slot.
    """
    _check_room(image, slots[0], where)
    contents = [_content(slot, read) for slot in slots]
    states = _states(trial.journal, read)
    newest = _newest(contents)
    found = None if newest is None else contents[newest]
    if newest is not None and found and found.image == image and states.get(found.identity) != State.FAILED:
        stored = stored_appli(image, found.revision)
        return AppliUpdate(_LETTERS[newest], slots[newest].address, found.revision, stored, is_new=False)
    kept = _kept(contents, states)
    target = 0 if kept is None else 1 - kept
    revision = (found.revision + 1) % _REVISIONS if found else 0
    return AppliUpdate(_LETTERS[target], slots[target].address, revision, stored_appli(image, revision), is_new=True)


def kept_appli(slots: Sequence[Slot], journal: Slot | None, read: Read) -> bytes:
    """Return the Appli that the next update leaves, or replaces last.

    The result is empty without a valid one.

    Args:
        slots: One slot, or slots A and B.
        journal: Slot of the journal; None without trials.
        read: read(address, bytes) reads the board's flash.
    """
    contents = [_content(slot, read) for slot in slots]
    kept = _kept(contents, _states(journal, read) if journal else {})
    content = None if kept is None else contents[kept]
    return content.image if content else b""


def expected_appli(image: bytes, slots: Sequence[Slot], read: Read) -> tuple[int, bytes]:
    """Return the expected address of an Appli on a board, and the bytes there.

    It is expected in the slot of the newest valid Appli, with that revision; in slot A if there is none.
    """
    contents = [_content(slot, read) for slot in slots]
    newest = _newest(contents)
    found = None if newest is None else contents[newest]
    return slots[newest or 0].address, stored_appli(image, found.revision if found else 0)


def stored_appli(image: bytes, revision: int) -> bytes:
    """Return the image with its trailer."""
    values = {"magic": int.from_bytes(MAGIC, "little"), "revision": revision}
    trailer = TRAILER.pack(**values, header_crc32=zlib.crc32(image[:HEADER_BYTES]), trailer_crc32=0)
    head = trailer[: TRAILER.offset_of("trailer_crc32")]
    return image.ljust(_trailer_offset(len(image)), b"\0") + head + zlib.crc32(head).to_bytes(4, "little")


def _trailer_offset(image_bytes: int) -> int:
    return -(-image_bytes // ALIGNMENT) * ALIGNMENT


def _check_room(image: bytes, slot: Slot, where: str) -> None:
    beyond = _trailer_offset(len(image)) + TRAILER.size - slot.size
    if beyond > 0:
        what = f"has {len(image)} bytes; with its trailer it is {beyond} bytes larger than slot 'appli' ({slot.size})"
        raise N6Error(
            "N6-TRIAL-003",
            what,
            where=where,
            hint="enlarge both slots (slots in board.yaml), or make the image smaller",
        )


def _content(slot: Slot, read: Read) -> _Content | None:
    """Return the content of a slot, None if it holds no valid Appli."""
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


def _states(journal: Slot, read: Read) -> dict[int, State]:
    """Return the states of the Applis that the journal knows, by their identity."""
    return {each.image: each.state for each in read_journal(journal, read) if each.subject == APPLI}


def _newest(contents: Sequence[_Content | None], among: Sequence[int] | None = None) -> int | None:
    """Return the slot that the firmware tries first."""
    newest: tuple[int, int] | None = None
    for index in range(len(contents)) if among is None else among:
        content = contents[index]
        if content and (newest is None or 0 < (content.revision - newest[1]) % _REVISIONS < _REVISIONS // 2):
            newest = index, content.revision
    return newest[0] if newest else None


def _kept(contents: Sequence[_Content | None], states: Mapping[int, State]) -> int | None:
    """Return the slot that an update leaves alone, None if there is no Appli to keep."""

    def having(*wanted: State) -> list[int]:
        return [
            index for index, each in enumerate(contents) if each and states.get(each.identity, State.UNKNOWN) in wanted
        ]

    confirmed = _newest(contents, having(State.CONFIRMED))
    if confirmed is not None:
        return confirmed
    untried = _newest(contents, having(State.UNKNOWN, State.TRYING))
    return _newest(contents) if untried is None else untried
