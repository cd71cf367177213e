"""The way from a programmer to the NOR of a board, one step after the other.

Each step needs those before it, so that the first one that fails has the cause.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.board.flash.command_line import server_port
from n6build.board.flash.probes import programmer_of_probe
from n6build.board.flash.programmer import Programmer
from n6build.board.flash.survey import checked_identity
from n6build.board.run.linked_session import console_of
from n6build.describe.formats.boot_header import MAGIC
from n6build.describe.hardware.board import Board

_LOOKED_AT = 1024
# Levels of a line that nobody drives.
_SILENT = (0, 0xFFFFFF)


@dataclass(frozen=True)
class CableStep:
    """A step that works.

    Attributes:
        name: Part that was reached.
        seen: What it answered.
    """

    name: str
    seen: str


def cable_steps(probe: str, board: Board) -> Iterator[CableStep]:
    """Yield each step as soon as it works.

    They are programmer, probe, chip, the NOR's id and content, and console. Nothing is written to the board.

    Args:
        probe: A value for `programmer_of_probe`.
        board: The board.

    Raises:
        N6Error: The first step that fails: N6-FLASH-010 to N6-FLASH-012, N6-FLASH-018 and N6-FLASH-029 for programmer and
            probe; N6-FLASH-013, N6-FLASH-014 and N6-FLASH-016 for the chip; N6-FLASH-008, N6-FLASH-031 and
            N6-FLASH-032 for the NOR; N6-LINK-007 for the console.
    """
    programmer = programmer_of_probe(probe, board)
    yield CableStep("programmer", f"{programmer.kind.name}: {programmer.command}")
    yield CableStep("probe", programmer.name)
    identity = checked_identity(programmer, board)
    named = f"{identity.board}, " if identity.board else ""
    yield CableStep("chip", f"{named}device id 0x{board.soc.device_id:03X}; its core is open for debuggers")
    found = programmer.nor_id()
    if found is not None:
        yield CableStep("NOR id", _right_id(found, programmer, board))
    yield CableStep("NOR", _content(programmer, board))
    if server_port(programmer.name) is None:
        yield CableStep("console", console_of(programmer.name))


def _right_id(found: int, programmer: Programmer, board: Board) -> str:
    """Return the JEDEC id of the NOR in words.

    Raises:
        N6Error: N6-FLASH-032 if another part, or none, answers.
    """
    wanted = board.nor.jedec_id
    if found == wanted:
        return f"JEDEC id 0x{found:06X}, that of {board.nor.part}"
    seen = "no part answers" if found in _SILENT else f"a part with JEDEC id 0x{found:06X} answers"
    raise N6Error(
        "N6-FLASH-032",
        f"{seen} on the pins of the NOR; {board.nor.part} has 0x{wanted:06X}",
        where=f"probe {programmer.name}",
        hint="select the attached board with board=NAME; for your own board, correct nor.part, nor.jedec_id and nor.pins "
        "in its board.yaml",
    )


def _content(programmer: Programmer, board: Board) -> str:
    """Return what the first bytes of the NOR are.

    Raises:
        N6Error: N6-FLASH-008 if they cannot be read; N6-FLASH-031 if all are zero.
    """
    (data,) = programmer.read([Span(board.slots.fsbl.address, _LOOKED_AT)])
    if data.startswith(MAGIC):
        return f"an image with a boot header at 0x{board.slots.fsbl.address:08X}"
    if not any(data):
        what = f"the NOR reads as zeros at 0x{board.slots.fsbl.address:08X}: the programmer does not reach it"
        raise N6Error(
            "N6-FLASH-031",
            what,
            where=f"probe {programmer.name}",
            hint=f"select the attached board with board=NAME; its NOR is expected to be {board.nor.part}",
        )
    erased = data.count(0xFF) == len(data)
    return "erased at the place of the FSBL" if erased else "no boot header at the place of the FSBL"
