"""Command lines of other people's programmers: run them, and find out from what they print whether they worked."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from n6build.boards import Board
from n6build.captured import run_captured
from n6build.errors import N6Error
from n6build.flash.programmer import RamProgram, Span
from n6build.flash.sectors import Sector, runs_of

LIST_TIMEOUT_S = 20
# Much slower than any probe should be.
_SLOWEST_BYTES_A_SECOND = 20_000
_CONNECTING_S = 60
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


def failure(code: str, doing: str, said: Said, otherwise: str, probe: str, selectors: str) -> N6Error:
    """selectors: how those of the board must stand for this, as `programming` and `running` have it."""
    what = said.complaint(otherwise)
    known = next((hint for words, hint in _HINTS if any(word.lower() in said.output.lower() for word in words)), None)
    return N6Error(code, f"{doing} failed: {what}", where=f"probe {probe}", hint=known or selectors)


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


def read_files(
    spans: Sequence[Span], fetch: Callable[[Sequence[tuple[Span, Path]]], None], probe: str, selectors: str
) -> list[bytes]:
    """fetch: has the programmer write each span to its file. Raises N6-FLASH-008 where one is not there or not whole."""
    with tempfile.TemporaryDirectory() as folder:
        files = [(span, Path(folder) / f"{number}.bin") for number, span in enumerate(spans)]
        fetch(files)
        data = [path.read_bytes() if path.is_file() else b"" for _, path in files]
    for span, each in zip(spans, data, strict=True):
        if len(each) != span.size:
            what = f"reading gave {len(each)} of {span.size} bytes at 0x{span.address:08X}"
            raise N6Error("N6-FLASH-008", what, where=f"probe {probe}", hint=selectors)
    return data


def programming(board: Board) -> str:
    return (
        f"boot selectors for programming: {board.programmer.dev_boot}; after a change switch the power off and on "
        "(run mode=no-flash takes what is there)"
    )


def running(board: Board) -> str:
    return f"boot selectors for running: {board.programmer.flash_boot}; after a change switch the power off and on"
