"""Boards on a cable. Nothing is ever chosen silently: a board that was not named must be the only one."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error, did_you_mean
from n6build.flash import cubeprogrammer, openocd, pyocd
from n6build.flash.programmer import ProbeProgrammer, Programmer
from n6build.flash.receipt import VIRTUAL
from n6build.flash.record import record_of_probe
from n6build.flash.survey import check_board
from n6build.hardware.boards import Board

AUTO = "auto"


@dataclass(frozen=True)
class _Kind:
    """A programmer: which probes it sees (serial number -> what it is), how it is made (of its command, the probe's serial
    number, the board, and where the board's record lies)."""

    command: str
    probes: Callable[[Path], dict[str, str]]
    make: Callable[[Path, str, Board, Path], ProbeProgrammer]


# By how much is known of each with this chip: the first that is installed is taken.
_KINDS = {
    "stm32cubeprogrammer": _Kind(cubeprogrammer.COMMAND, cubeprogrammer.attached_probes, cubeprogrammer.CubeProgrammer),
    "openocd": _Kind(openocd.COMMAND, openocd.attached_probes, openocd.OpenOcd),
    "pyocd": _Kind(pyocd.COMMAND, pyocd.attached_probes, pyocd.PyOcd),
}


def programmer_of_probe(probe: str, board: Board) -> ProbeProgrammer:
    """probe: 'auto', a serial number, or one of them behind the name of a programmer, as in 'openocd:auto'.

    Raises N6-FLASH-010 (none), -011 (several), -012 (not that one), -014 (another board), -018 (no such programmer, or not
    installed).
    """
    named, _, serial = probe.rpartition(":")
    if not named and probe in _KINDS:
        named, serial = probe, AUTO
    kind, command = _installed(named, "" if serial == AUTO else serial)
    probes = kind.probes(command)
    if serial in ("", AUTO):
        serial = _only(probes, kind, board)
    if serial not in probes:
        attached = f"attached: {', '.join(sorted(probes)) or 'none that it can see'}"
        hint = did_you_mean(serial, [VIRTUAL]) if difflib.get_close_matches(serial, [VIRTUAL]) else attached
        raise N6Error("N6-FLASH-012", f"probe '{serial}' is not attached, says {kind.command}", hint=hint)
    check_board(probes[serial], board, serial)
    return kind.make(command, serial, board, record_of_probe(serial))


def name_of(programmer: Programmer) -> str:
    """By which `programmer_named` finds it again, such as 'openocd:<serial number>'."""
    kind = next(name for name, each in _KINDS.items() if each.make is type(programmer))
    return f"{kind}:{programmer.name}"


def programmer_named(name: str, board: Board) -> ProbeProgrammer:
    """Without a look at what is attached, which was had when it was chosen. Raises N6-FLASH-018 where it is no longer
    installed."""
    named, _, serial = name.rpartition(":")
    kind, command = _installed(named, serial)
    return kind.make(command, serial, board, record_of_probe(serial))


def _installed(named: str, serial: str) -> tuple[_Kind, Path]:
    """The programmer of this name; the first that is there where it is empty. serial: for messages."""
    if named and named not in _KINDS:
        raise N6Error("N6-FLASH-018", f"no programmer '{named}'", hint=did_you_mean(named, _KINDS))
    for kind in [_KINDS[named]] if named else _KINDS.values():
        if command := shutil.which(kind.command):
            return kind, Path(command)
    hint = "program the virtual board: probe=virtual; scons doctor says what to install for a real one"
    if named:
        raise N6Error("N6-FLASH-018", f"{_KINDS[named].command} is not in PATH; nothing was programmed", hint=hint)
    commands = ", ".join(kind.command for kind in _KINDS.values())
    code, probe = ("N6-FLASH-012", f"probe '{serial}'") if serial else ("N6-FLASH-010", "no debug probe")
    was = "was not" if serial else "was"
    what = f"{probe} {was} looked for: none of {commands} is in PATH; nothing was programmed"
    raise N6Error(code, what, hint=hint)


def _only(probes: dict[str, str], kind: _Kind, board: Board) -> str:
    if not probes:
        what = f"no debug probe is attached, says {kind.command}; nothing was programmed"
        hint = "plug the board in (USB, and on for some seconds), or program the virtual board: probe=virtual"
        raise N6Error("N6-FLASH-010", what, hint=hint)
    if len(probes) > 1:
        listed = "".join(f"\n  {serial}  {what}".rstrip() for serial, what in sorted(probes.items()))
        fitting = [serial for serial, what in sorted(probes.items()) if what.casefold() == board.title.casefold()]
        hint = f"choose one: probe={(fitting or sorted(probes))[0]}"
        raise N6Error("N6-FLASH-011", f"{len(probes)} probes are attached:{listed}", hint=hint)
    return next(iter(probes))
