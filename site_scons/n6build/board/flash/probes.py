"""Boards on a cable.

No board is chosen silently: a board that was not named must be the only one.
"""

from __future__ import annotations

import difflib
import re
import shutil
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error, did_you_mean
from n6build.base.members import members
from n6build.board.flash.command_line import CommandLine, server_port
from n6build.board.flash.probe_programmer import ProbeProgrammer
from n6build.board.flash.receipt import VIRTUAL
from n6build.board.flash.record import record_of_probe
from n6build.board.flash.survey import check_board
from n6build.board.flash.virtual import VirtualProgrammer
from n6build.describe.hardware.board import Board


def choose_programmer(probe: str, board: Board, virtual_folder: Path) -> VirtualProgrammer | ProbeProgrammer:
    """Return the programmer of the chosen board.

    Args:
        probe: 'virtual', or a value for `programmer_of_probe`.
        board: The board.
        virtual_folder: Folder of the virtual board.

    Raises:
        N6Error: Errors of `programmer_of_probe`.
    """
    if probe == VIRTUAL:
        return VirtualProgrammer(virtual_folder, board.nor.base, board.nor.size)
    return programmer_of_probe(probe, board)


def chosen_programmer(name: str, board: Board, virtual_folder: Path) -> VirtualProgrammer | ProbeProgrammer:
    """Return the programmer that was chosen while the build was read.

    Args:
        name: Name from `name_of_programmer`.
        board: The board.
        virtual_folder: Folder of the virtual board.

    Raises:
        N6Error: N6-FLASH-018 if the programmer is no longer installed.
    """
    if name == VIRTUAL:
        return VirtualProgrammer(virtual_folder, board.nor.base, board.nor.size)
    return programmer_named(name, board)


def name_of_programmer(programmer: VirtualProgrammer | ProbeProgrammer) -> str:
    """Return a programmer's name for steps.

    It is 'virtual', or programmer and serial number.
    """
    if isinstance(programmer, VirtualProgrammer):
        return VIRTUAL
    return name_of(programmer)


AUTO = "auto"
_SERIAL = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)


# Programmers are searched in this order.
PROGRAMMERS = {
    each.name: each
    for each in sorted(
        members("n6build.board.flash.programmers.*", "PROGRAMMER", CommandLine), key=lambda each: each.rank
    )
}


def programmer_of_probe(probe: str, board: Board) -> ProbeProgrammer:
    """Return the programmer of a probe.

    Args:
        probe: 'auto', a serial number, the TCP port of a probe server as in 'tcp-5555', or one of them
            after the name of a programmer, as in 'openocd:auto'.
        board: The board.

    Raises:
        N6Error: N6-FLASH-010 if no probe is attached; N6-FLASH-011 if there are several; N6-FLASH-012
            if this one is not attached; N6-FLASH-014 for another board; N6-FLASH-018 for an unknown
            programmer, or one that is not installed; N6-FLASH-029 for an invalid serial number.
    """
    named, _, serial = probe.rpartition(":")
    if not named and probe in PROGRAMMERS:
        named, serial = probe, AUTO
    kind, command = _installed(named, "" if serial == AUTO else serial)
    if kind.uses_servers and server_port(serial) is not None:
        # No programmer lists it: the connection shows whether it is there.
        return _attached(kind, command, serial, board)
    probes = kind.probes(command)
    if serial in ("", AUTO):
        serial = _only(probes, kind, board)
    if serial not in probes:
        attached = f"choose an attached probe: {', '.join(sorted(probes)) or 'none found'}"
        hint = did_you_mean(serial, [VIRTUAL]) if difflib.get_close_matches(serial, [VIRTUAL]) else attached
        raise N6Error("N6-FLASH-012", f"{kind.command} does not find probe '{serial}'", hint=hint)
    check_board(probes[serial], board, serial)
    if kind.untried:
        say("Untried", kind.untried)
    return _attached(kind, command, serial, board)


def name_of(programmer: ProbeProgrammer) -> str:
    """Return a name for `programmer_named`, such as 'openocd:<serial number>'."""
    return f"{programmer.kind.name}:{programmer.name}"


def programmer_named(name: str, board: Board) -> ProbeProgrammer:
    """Return the programmer of this name.

    The attached probes are not listed again, since the choice was made before.

    Raises:
        N6Error: N6-FLASH-018 if the programmer is no longer installed; N6-FLASH-029 for an invalid
            serial number.
    """
    named, _, serial = name.rpartition(":")
    kind, command = _installed(named, serial)
    return _attached(kind, command, serial, board)


def _attached(kind: CommandLine, command: Path, serial: str, board: Board) -> ProbeProgrammer:
    """Return the programmer, after a check of the serial number.

    The serial number comes from the device, and is used in scripts of programmers and in a file name.
    """
    if not _SERIAL.fullmatch(serial):
        what = f"{serial!a} is not a serial number: letters, digits, '_', '.' and '-'"
        raise N6Error("N6-FLASH-029", what, where=kind.command, hint="unplug the device with this serial number")
    return ProbeProgrammer(kind, command, serial, board, record_of_probe(serial))


def _installed(named: str, serial: str) -> tuple[CommandLine, Path]:
    """Return the named programmer, or the first installed one for an empty name.

    Args:
        named: Name of the programmer, or empty.
        serial: Serial number, for messages.
    """
    if named and named not in PROGRAMMERS:
        raise N6Error("N6-FLASH-018", f"no programmer '{named}'", hint=did_you_mean(named, PROGRAMMERS))
    for kind in [PROGRAMMERS[named]] if named else PROGRAMMERS.values():
        if command := shutil.which(kind.command):
            return kind, Path(command)
    instead = "or use the virtual board: probe=virtual"
    if named:
        kind = PROGRAMMERS[named]
        hint = f"{kind.install}, {instead}"
        raise N6Error("N6-FLASH-018", f"{kind.command} is not in PATH; nothing was programmed", hint=hint)
    commands = ", ".join(kind.command for kind in PROGRAMMERS.values())
    code, probe = ("N6-FLASH-012", f"probe '{serial}'") if serial else ("N6-FLASH-010", "a debug probe")
    what = f"cannot look for {probe}: none of {commands} is in PATH; nothing was programmed"
    raise N6Error(code, what, hint=f"install one of them (docs/board-on-a-cable.md), {instead}")


def _only(probes: dict[str, str], kind: CommandLine, board: Board) -> str:
    if not probes:
        what = f"{kind.command} finds no debug probe; nothing was programmed"
        hint = "connect the board by USB and wait some seconds, or use the virtual board: probe=virtual"
        raise N6Error("N6-FLASH-010", what, hint=hint)
    if len(probes) > 1:
        listed = "".join(f"\n  {serial}  {what}".rstrip() for serial, what in sorted(probes.items()))
        fitting = [serial for serial, what in sorted(probes.items()) if what.casefold() == board.title.casefold()]
        hint = f"choose one: probe={(fitting or sorted(probes))[0]}"
        raise N6Error("N6-FLASH-011", f"{len(probes)} probes are attached:{listed}", hint=hint)
    return next(iter(probes))
