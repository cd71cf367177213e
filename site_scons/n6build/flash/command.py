"""What programmers with a command line have in common: running it, and finding out from what it prints whether it worked."""

from __future__ import annotations

import re
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from n6build.base.captured import run_captured
from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.flash.programmer import Identity, RamProgram
from n6build.flash.read_back import check_read_back
from n6build.flash.sectors import Sector, runs_of
from n6build.hardware.boards import Board

LIST_TIMEOUT_S = 20
# Much slower than any probe should be.
_SLOWEST_BYTES_A_SECOND = 20_000
_CONNECTING_S = 60
# Of DBGMCU IDCODE; the rest is the revision.
_DEVICE_ID = 0xFFF
_ANSI = re.compile(r"\x1b\[[0-9;]*m")

# Beginnings of what has to be said about a failure, whichever program reports it; words are compared without case.
_UNPLUG = "unplug the probe's USB cable and plug it in again"
_HINTS = (
    (("DEV_USB_COMM_ERR", "no debug probe", "open failed", "disconnected", "no probe"), _UNPLUG),
    (("no flash bank found", "no memory region"), "this installation has no way to program the NOR: see README"),
    (
        ("not recognized", "target type"),
        "the programmer does not know the chip: pyocd pack install, or a newer release",
    ),
    (("can't find target/",), "this OpenOCD is too old for the chip: releases up to 0.12.0 are"),
)


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
        """The first error, or the last line where a command has failed without one, or `otherwise`."""
        errors = self.errors()
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        if errors:
            return errors[0]
        return f"exit status {self.status}, {lines[-1] if lines else 'not a word'}" if self.status else otherwise

    @property
    def failed(self) -> bool:
        return bool(self.status or self.errors())


def run_programmer(command: Path, arguments: Sequence[str], timeout_s: int) -> Said:
    """Raises N6-FLASH-007 where it cannot be run or does not end."""
    try:
        status, output = run_captured([command, *arguments], timeout_s)
    except subprocess.TimeoutExpired as error:
        raise N6Error("N6-FLASH-007", f"no answer within {timeout_s} s", where=command.name, hint=_UNPLUG) from error
    except OSError as error:
        raise N6Error("N6-FLASH-007", f"cannot be run: {error.strerror}", where=command.name) from error
    return Said(_ANSI.sub("", output), status)


def program_timeout_s(sectors: int, seconds_a_sector: float) -> int:
    return _CONNECTING_S + int(3 * sectors * seconds_a_sector)


def read_timeout_s(sizes: Iterable[int]) -> int:
    """sizes: in bytes."""
    return _CONNECTING_S + sum(sizes) // _SLOWEST_BYTES_A_SECOND


@contextmanager
def image_files(sectors: Sequence[Sector]) -> Iterator[list[tuple[int, Path]]]:
    """(address, file) of each run of sectors, while the block lasts."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for run in runs_of(sectors):
            path = Path(folder) / f"{run[0].address:08x}.bin"
            path.write_bytes(b"".join(sector.data for sector in run))
            files.append((run[0].address, path))
        yield files


@contextmanager
def ram_file(program: RamProgram) -> Iterator[Path]:
    """The program as a file, while the block lasts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.bin"
        path.write_bytes(program.data)
        yield path


def programming(board: Board) -> str:
    return (
        f"boot selectors for programming: {board.programmer.dev_boot}; after a change switch the power off and on "
        "(run mode=no-flash takes what is there)"
    )


def running(board: Board) -> str:
    return f"boot selectors for running: {board.programmer.flash_boot}; after a change switch the power off and on"


@dataclass(frozen=True)
class CommandProgrammer(ABC):
    """name: serial number of the probe. record: where that of its board lies. What it says of itself: see `Programmer`."""

    seconds_a_sector: ClassVar[float]

    command: Path
    name: str
    board: Board
    record: Path

    def still_holds(self) -> bool:
        return True

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        """Raises N6-FLASH-008 where a span cannot be read, or not as a whole."""
        with tempfile.TemporaryDirectory() as folder:
            files = [(span, Path(folder) / f"{number}.bin") for number, span in enumerate(spans)]
            self._fetch(files)
            data = [path.read_bytes() if path.is_file() else b"" for _, path in files]
        for span, each in zip(spans, data, strict=True):
            if len(each) != span.size:
                what = f"reading gave {len(each)} of {span.size} bytes at 0x{span.address:08X}"
                raise N6Error("N6-FLASH-008", what, where=f"probe {self.name}", hint=programming(self.board))
        return data

    def verify(self, sectors: Sequence[Sector]) -> None:
        """By reading back."""
        check_read_back(sectors, self.read, f"probe {self.name}")

    @abstractmethod
    def _fetch(self, files: Sequence[tuple[Span, Path]]) -> None:
        """Has the command write each span to its file."""

    def _failure(self, code: str, doing: str, said: Said, otherwise: str = "", hint: str = "") -> N6Error:
        """hint: where nothing more is known of what was said; default: how the selectors must stand for programming."""
        output = said.output.lower()
        known = next((known for words, known in _HINTS if any(word.lower() in output for word in words)), "")
        what = f"{doing} failed: {said.complaint(otherwise)}"
        return N6Error(code, what, where=f"probe {self.name}", hint=known or hint or programming(self.board))

    def _identity(self, said: Said, pattern: str) -> Identity:
        """pattern: of the word DBGMCU IDCODE in what was said, in hex. Raises N6-FLASH-016 where it is not there."""
        idcode = re.search(pattern, said.output, re.MULTILINE | re.IGNORECASE)
        if idcode is None:
            raise self._failure("N6-FLASH-016", "connecting", said, "no device id")
        return Identity(device_id=int(idcode[1], 16) & _DEVICE_ID)
