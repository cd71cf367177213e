"""A release sent to an FSBL that waits for it on its console.

The order makes a half-written release impossible to start: the boot header of the Appli is erased before
anything else is, and written after everything else. What the board already holds is not sent, so that a
repeated call goes on where the last one stopped.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from n6build.base.console import kib, printable, say
from n6build.base.errors import N6Error
from n6build.base.intel_hex import ERASED
from n6build.base.span import Span
from n6build.board.flash.sectors import Sector
from n6build.board.run.console_log import read_console
from n6build.board.run.link import Link, Restarted, unpacked
from n6build.describe.formats.console import FSBL_APPLI, FSBL_RECOVERY
from n6build.describe.formats.recovery import (
    CRC_ANSWER,
    CRC_REQUEST,
    DATA_MAX,
    ERASE_REQUEST,
    HELLO_ANSWER,
    SECTOR_BYTES,
    VERSION,
    WRITE_REQUEST,
    Status,
    Type,
)

_ERASED = bytes([ERASED])
# The longest wait of the firmware for an erased sector is two seconds.
_ERASE_S = 3.0
# About the time of a sector at 115200 baud, with its requests, an erase and the check.
_SECTOR_S = 0.55
# The FSBL starts within a second, unless it verifies a signature at a slow clock.
_STARTS_S = 3.0
_STARTS = 4
_RESTARTS = 3
_REFUSALS: dict[int, str] = {
    Status.UNKNOWN: "it knows no such request",
    Status.RANGE: "this address is not one that recovery may write",
    Status.FAILED: "the NOR holds other bytes afterwards",
}


@dataclass(frozen=True)
class Release:
    """The content of a recovered board.

    Attributes:
        sectors: Sectors of all images but the FSBL.
        appli: Address of the Appli, whose first bytes make it valid.
        erased: Addresses of sectors of SECTOR_BYTES that must be erased, so that nothing else starts: the
            other slots of Appli and models, and the journal.
    """

    sectors: tuple[Sector, ...]
    appli: int
    erased: tuple[int, ...] = ()


@dataclass(frozen=True)
class Recovered:
    """Result of a recovery.

    Attributes:
        sent: Sectors of SECTOR_BYTES that were written.
        erased: Sectors that were only erased.
        held: Sectors that the board already held.
    """

    sent: int
    erased: int
    held: int


def recover(link: Link, board: str, release: Release) -> Recovered:
    """Send a release to a board that waits for it, and go on if it restarts.

    Args:
        link: Console of the board.
        board: Name of the board.
        release: Content of the board.

    Raises:
        N6Error: Errors of `wait_for_fsbl` and `send`; N6-LINK-005 if the board keeps restarting.
    """
    # The error that makes an FSBL wait is no reason to stop.
    link.check, link.refusals = (lambda _: None), _REFUSALS
    for attempt in range(1, _RESTARTS + 1):
        try:
            wait_for_fsbl(link, board)
            return send(link, release)
        except Restarted:
            say("Restarted", "the board", f"in the middle of a recovery, attempt {attempt} of {_RESTARTS}")
    what = f"the board has restarted {_RESTARTS} times in the middle of a recovery"
    raise N6Error("N6-LINK-005", what, hint="check its power supply, then repeat it: it goes on where it stopped")


def wait_for_fsbl(link: Link, board: str) -> None:
    """Wait until an FSBL answers that waits for a release.

    Raises:
        N6Error: N6-RECOVER-001 if none answers; N6-RECOVER-002 for another version of the protocol;
            N6-RECOVER-003 for another board.
    """
    for _ in range(_STARTS):
        try:
            payload = link.request(Type.HELLO, b"", max(_STARTS_S, link.answer_s))
            break
        except Restarted:
            continue
        except N6Error as error:
            if error.id not in ("N6-LINK-001", "N6-LINK-003"):
                raise
            raise _not_waiting() from error
    else:
        raise _not_waiting()
    answer = unpacked(HELLO_ANSWER, payload, Type.HELLO)
    if answer["version"] != VERSION:
        what = f"the FSBL uses version {answer['version']} of recovery, but n6build uses {VERSION}"
        raise N6Error("N6-RECOVER-002", what, hint="recover it with the n6build that made its FSBL")
    name = payload[HELLO_ANSWER.size :].decode("utf-8", "replace")
    if name != board:
        what = f"this is a board {printable(name)}, not {board}; nothing was written"
        raise N6Error("N6-RECOVER-003", what, hint="set board= to the board on this console")


def _not_waiting() -> N6Error:
    what = "no FSBL on this console waits for a release"
    hint = "its FSBL needs recovery=on; hold the pin of board.yaml (recovery.pin) while you reset the board"
    return N6Error("N6-RECOVER-001", what, hint=hint)


def send(link: Link, release: Release) -> Recovered:
    """Send the parts of a release that a waiting board lacks.

    Raises:
        N6Error: N6-RECOVER-004 if the FSBL refuses a request, or its flash holds other bytes afterwards;
            N6-LINK-001 if it does not answer any more.
        Restarted: The board has restarted. The next call goes on.
    """
    lacking = dict(_lacking(link, release.sectors))
    empty = zlib.crc32(_ERASED * SECTOR_BYTES)
    found = _crcs(link, [Span(place, SECTOR_BYTES) for place in release.erased])
    stale = [place for place, crc in zip(release.erased, found, strict=True) if crc != empty]
    held = sum(sector.size for sector in release.sectors) // SECTOR_BYTES - len(lacking)
    if not lacking and not stale:
        return Recovered(0, 0, held)
    head = next(sector.data[:SECTOR_BYTES] for sector in release.sectors if sector.address == release.appli)
    _erase(link, release.appli)
    for place in stale:
        _erase(link, place)
    _check(link, [Span(place, SECTOR_BYTES) for place in stale], [empty] * len(stale))
    rest = sorted(place for place in lacking if place != release.appli)
    size = kib((len(rest) + 1) * SECTOR_BYTES)
    say("Recover", f"{size} to send", f"about {(len(rest) + 1) * _SECTOR_S:.0f} s at 115200 baud")
    for place in rest:
        _write(link, place, lacking[place])
    _write(link, release.appli, head)
    return Recovered(len(rest) + 1, len(stale), held)


def start(link: Link, heard: Sequence[str]) -> None:
    """Let the board start, and wait until it starts an Appli or refuses to.

    Args:
        link: Console of a board that waits.
        heard: Lines of the console, to which the link adds.

    Raises:
        N6Error: N6-RECOVER-005 if the FSBL refuses the release; N6-RECOVER-006 if the pin is still held;
            N6-LINK-001 if the board is silent.
    """
    before = len(heard)
    link.request(Type.START, b"")
    ends = (FSBL_APPLI, FSBL_RECOVERY)
    link.listen(lambda: any(line.read(text) for line in ends for text in heard[before:]), _STARTS * _STARTS_S)
    lines = heard[before:]
    if any(FSBL_APPLI.read(text) for text in lines):
        return
    waits = next((read for text in lines if (read := FSBL_RECOVERY.read(text))), None)
    if waits is None:
        raise N6Error("N6-LINK-001", "the board prints nothing about an Appli after its start", hint="reset it")
    log = read_console(lines)
    reason = log.refused_appli.get(0) or log.error
    if reason is None:
        raise N6Error("N6-RECOVER-006", "the pin is still held", hint="release it, then reset the board")
    what = f"the FSBL does not start this release: {' '.join(reason)}"
    raise N6Error("N6-RECOVER-005", what, hint="recover the board with a release that its FSBL accepts")


def _pieces(sector: Sector) -> Iterator[tuple[int, bytes]]:
    data = sector.data
    for at in range(0, sector.size, SECTOR_BYTES):
        yield sector.address + at, data[at : at + SECTOR_BYTES]


def _lacking(link: Link, sectors: Sequence[Sector]) -> list[tuple[int, bytes]]:
    """Return the address and content of each piece that the board lacks."""
    found = _crcs(link, [Span(sector.address, sector.size) for sector in sectors])
    differ = (sector for sector, crc in zip(sectors, found, strict=True) if crc != zlib.crc32(sector.data))
    pieces = [piece for sector in differ for piece in _pieces(sector)]
    found = _crcs(link, [Span(place, len(data)) for place, data in pieces])
    return [piece for piece, crc in zip(pieces, found, strict=True) if crc != zlib.crc32(piece[1])]


def _crcs(link: Link, spans: Sequence[Span]) -> list[int]:
    payloads = [CRC_REQUEST.pack(address=span.address, bytes=span.size) for span in spans]
    return [unpacked(CRC_ANSWER, each, Type.CRC)["crc32"] for each in _carried_out(link, Type.CRC, payloads, _ERASE_S)]


def _erase(link: Link, address: int) -> None:
    _carried_out(link, Type.ERASE, [ERASE_REQUEST.pack(address=address)], _ERASE_S)


def _write(link: Link, address: int, data: bytes) -> None:
    """Erase a sector, write its data in blocks, and check all of it.

    The first block comes last, since a header makes an image valid.
    """
    _erase(link, address)
    blocks = [(address + at, data[at : at + DATA_MAX]) for at in reversed(range(0, len(data), DATA_MAX))]
    payloads = [WRITE_REQUEST.pack(address=place) + block for place, block in blocks if block.strip(_ERASED)]
    _carried_out(link, Type.WRITE, payloads)
    _check(link, [Span(address, len(data))], [zlib.crc32(data)])


def _check(link: Link, spans: Sequence[Span], expected: Sequence[int]) -> None:
    for span, found, crc in zip(spans, _crcs(link, spans), expected, strict=True):
        if found != crc:
            what = "the flash holds other bytes than were written"
            raise N6Error("N6-RECOVER-004", what, where=f"0x{span.address:08X}", hint="repeat it; the part may be worn")


def _carried_out(link: Link, kind: Type, payloads: Sequence[bytes], answer_s: float = 0.0) -> list[bytes]:
    try:
        return link.requests(kind, payloads, max(answer_s, link.answer_s))
    except N6Error as error:
        if error.id != "N6-LINK-003":
            raise
        raise N6Error("N6-RECOVER-004", f"the FSBL refuses a request: {error.what}") from error
