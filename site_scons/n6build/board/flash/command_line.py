"""A programmer as a command line: its commands and the meanings of its output.

probe_programmer.py programs a board with it, in the same way for all programmers.
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
from n6build.board.flash.programmer import Identity, RamProgram
from n6build.describe.hardware.board import Board

LIST_TIMEOUT_S = 20
UNPLUG = "unplug the probe's USB cable and plug it in again"
# The lower 12 bits of DBGMCU IDCODE are the device id; the other bits are the revision.
# A word of n6build's script, or one that a programmer reads from the RAM of its flash algorithm.
_NOR_ID = re.compile(r"(?:n6 nor id 0x|^[0-9a-f]{8}: 00)([0-9a-f]{6})$", re.MULTILINE)
_DEVICE_ID = 0xFFF
# Name of a probe server of this computer, such as that of n6build probe-server, in place of a serial number.
_SERVER = re.compile(r"tcp-(\d{1,5})")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Said:
    """Output of a command without colours, and its exit status."""

    output: str
    status: int

    def errors(self) -> list[str]:
        """Return the lines that begin with 'Error:'.

        Some programs print such lines and end with status 0.
        """
        lines = (line.strip() for line in self.output.splitlines())
        return [line.removeprefix("Error:").strip() for line in lines if line.startswith("Error:")]

    def complaint(self, otherwise: str) -> str:
        """Return the first error, or the last line of a failed command, or `otherwise`."""
        errors = self.errors()
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        if errors:
            return errors[0]
        return f"exit status {self.status}, {lines[-1] if lines else 'no output'}" if self.status else otherwise

    @property
    def failed(self) -> bool:
        """Return true for an exit status other than 0, or a line 'Error: ...'."""
        return bool(self.status or self.errors())


@dataclass(frozen=True)
class Attached:
    """A board on a probe, for the time of one command.

    Attributes:
        command: Path of the programmer.
        serial: Serial number of the probe.
        board: The board.
        folder: Folder for files that the command reads; it exists until the command has ended.
    """

    command: Path
    serial: str
    board: Board
    folder: Path


@dataclass(frozen=True)
class Order:
    """A command line with the text that confirms it.

    Attributes:
        arguments: Arguments of the programmer.
        done: Text that is printed for each completed part; empty if the exit status is enough.
        parts: Number of parts.
        more: Arguments of further calls, for a programmer that carries out one command a call.
        goes_on: Whether these follow a call that failed, too.
    """

    arguments: Sequence[str]
    done: str = ""
    parts: int = 1
    more: Sequence[Sequence[str]] = ()
    goes_on: bool = False


@dataclass(frozen=True)
class Meaning:
    """A known problem in the output of a programmer.

    Attributes:
        words: Words that are all in the output, in upper or lower case.
        hint: Remedy.
    """

    words: tuple[str, ...]
    hint: str


@dataclass(frozen=True)
class DebugServer:
    """A server for GDB that comes with a programmer.

    Attributes:
        command: Program, searched beside the programmer, in `folders`, then in PATH.
        arguments: Function that returns the arguments for a port of this computer; they halt the
            board, and end the server when GDB disconnects.
        ready: Text that is printed when GDB may connect.
        type: Server type in cortex-debug.
        editor: Function that returns further settings of cortex-debug's configuration.
        folders: Folders relative to that of the programmer.
    """

    command: str
    arguments: Callable[[Attached, int], Sequence[str]]
    ready: str
    type: str
    editor: Callable[[Board], dict[str, Any]]
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class CommandLine:
    """A programmer with a command line.

    Attributes:
        name: Name of its module, and in probe=<name>.
        command: Program, searched in PATH.
        rank: The installed programmer with the lowest rank is used.
        install: Instruction to install it.
        seconds_a_sector: About how long a sector takes to erase, program and verify.
        probes: Function that returns all attached probes: serial number -> kind of probe, or its board.
        identify: Connect, and print the device id.
        identity: Find the identity in the output of `identify`, None if it is missing.
        read: Read each span into its file.
        program: Program each file to its address, and erase no more than its sectors.
        reset: Reset the board by its pin; the core's access port is closed after a start from flash.
        start: Load a program from a file into RAM, and start it without a reset.
        verify: Verify files; None if reading back is as good.
        nor_id: Print the JEDEC id of the NOR as `jedec_id` finds it; None if it cannot.
        meanings: Known problems.
        debug: None if it has no server for GDB.
        uses_servers: Whether it can use a probe server of this computer.
        untried: Warning about a programmer that never ran; empty for others.
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
    nor_id: Callable[[Attached], Order] | None = None
    meanings: tuple[Meaning, ...] = ()
    debug: DebugServer | None = None
    uses_servers: bool = False
    untried: str = ""


def server_port(serial: str) -> int | None:
    """Return the TCP port of a probe server of this computer.

    Args:
        serial: Name of a probe, such as 'tcp-5555'; a serial number gives None.
    """
    found = _SERVER.fullmatch(serial)
    return int(found[1]) if found else None


def run_command(command: Path, arguments: Sequence[str], timeout_s: int) -> Said:
    """Run a command and return its output.

    Raises:
        N6Error: N6-FLASH-007 if it cannot be run or does not end in time.
    """
    try:
        status, output = run_captured([command, *arguments], timeout_s)
    except subprocess.TimeoutExpired as error:
        raise N6Error("N6-FLASH-007", f"no answer within {timeout_s} s", where=command.name, hint=UNPLUG) from error
    except OSError as error:
        raise N6Error("N6-FLASH-007", f"cannot be run: {error.strerror}", where=command.name) from error
    return Said(_ANSI.sub("", output), status)


def device_id(output: str, pattern: str) -> int | None:
    """Return the device id in the output, None if it is missing.

    Args:
        output: Output of a programmer.
        pattern: Pattern of a line, with the word DBGMCU IDCODE or its lower 12 bits in hex as group 1.
    """
    found = re.search(pattern, output, re.MULTILINE | re.IGNORECASE)
    return int(found[1], 16) & _DEVICE_ID if found else None


def jedec_id(output: str) -> int | None:
    """Return the JEDEC id of the NOR in the output, None if it is missing."""
    found = _NOR_ID.search(output)
    return int(found[1], 16) if found else None
