"""A programmer as a command line: its commands, and what its output means. How a board is programmed with one is in
probe_programmer.py, the same for all of them.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n6build.base.captured import run_captured
from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.flash.programmer import Identity, RamProgram
from n6build.hardware.board import Board

LIST_TIMEOUT_S = 20
UNPLUG = "unplug the probe's USB cable and plug it in again"
# Of DBGMCU IDCODE; the rest is the revision.
_DEVICE_ID = 0xFFF
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Said:
    """What a command printed, without colours, and how it ended."""

    output: str
    status: int

    def errors(self) -> list[str]:
        """Lines that begin with 'Error:'; some programs print them and end with 0."""
        lines = (line.strip() for line in self.output.splitlines())
        return [line.removeprefix("Error:").strip() for line in lines if line.startswith("Error:")]

    def complaint(self, otherwise: str) -> str:
        """The first error; or the last line, where a command failed without one; or `otherwise`."""
        errors = self.errors()
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        if errors:
            return errors[0]
        return f"exit status {self.status}, {lines[-1] if lines else 'no output'}" if self.status else otherwise

    @property
    def failed(self) -> bool:
        """By the exit status, or by a line that begins with 'Error:'."""
        return bool(self.status or self.errors())


@dataclass(frozen=True)
class Attached:
    """A board on a probe, for the time of one command. command: of the programmer. folder: for files that the command reads; it
    exists until the command has ended."""

    command: Path
    serial: str
    board: Board
    folder: Path


@dataclass(frozen=True)
class Order:
    """A command line. done: what is printed for each of its `parts` that was carried out; empty where the exit status is
    enough."""

    arguments: Sequence[str]
    done: str = ""
    parts: int = 1


@dataclass(frozen=True)
class Meaning:
    """words: in the output, all of them, in upper or lower case. hint: what to do then."""

    words: tuple[str, ...]
    hint: str


@dataclass(frozen=True)
class DebugServer:
    """A server for GDB that comes with a programmer. command: looked for in PATH, and in these folders, relative to that of the
    programmer. arguments: for a port of this computer; it halts the board, and ends when GDB disconnects. ready: printed when GDB
    may connect. type: cortex-debug's word for it, and editor: further settings of its configuration."""

    command: str
    arguments: Callable[[Attached, int], Sequence[str]]
    ready: str
    type: str
    editor: Callable[[Board], dict[str, Any]]
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class CommandLine:
    """A programmer. name: of its module, and in probe=<name>. command: looked for in PATH. rank: the installed programmer with
    the lowest one is used. install: how to get it. seconds_a_sector: about how long one takes to erase, program and verify.
    probes: serial number -> what it is, or the board that it is on, of all attached ones.

    Its commands: identify (connect, and print the device id), read (each span into its file), program (each file to its
    address, erasing no more than its sectors), verify (None where reading back is as good), reset (start what is in flash),
    start (load a program from a file into RAM, and start it without a reset). identity: found in the output of `identify`, None
    where it is not there. debug: None where it has no server for GDB.
    """

    name: str
    command: str
    rank: int
    install: str
    seconds_a_sector: float
    probes: Callable[[Path], dict[str, str]]
    identify: Callable[[Attached], Order]
    identity: Callable[[str, Board], Identity | None]
    read: Callable[[Attached, Sequence[tuple[Span, Path]]], Order]
    program: Callable[[Attached, Sequence[tuple[int, Path]]], Order]
    reset: Callable[[Attached], Order]
    start: Callable[[Attached, RamProgram, Path], Order]
    verify: Callable[[Attached, Sequence[tuple[int, Path]]], Order] | None = None
    meanings: tuple[Meaning, ...] = ()
    debug: DebugServer | None = None


def run_command(command: Path, arguments: Sequence[str], timeout_s: int) -> Said:
    """Raises N6-FLASH-007 where it cannot be run or does not end in time."""
    try:
        status, output = run_captured([command, *arguments], timeout_s)
    except subprocess.TimeoutExpired as error:
        raise N6Error("N6-FLASH-007", f"no answer within {timeout_s} s", where=command.name, hint=UNPLUG) from error
    except OSError as error:
        raise N6Error("N6-FLASH-007", f"cannot be run: {error.strerror}", where=command.name) from error
    return Said(_ANSI.sub("", output), status)


def device_id(output: str, pattern: str) -> int | None:
    """pattern: of a line, with the word DBGMCU IDCODE or its lower 12 bits in hex as group 1. None where there is no such
    line."""
    found = re.search(pattern, output, re.MULTILINE | re.IGNORECASE)
    return int(found[1], 16) & _DEVICE_ID if found else None
