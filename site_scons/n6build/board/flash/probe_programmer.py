"""A board behind a debug probe: read, program and start it with a command line.

The same code serves all programmers. It also decides by their output if a command worked.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextvars import Context
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.regular_file import content_of
from n6build.base.span import Span
from n6build.board.flash.boot_selectors import programming, running
from n6build.board.flash.command_line import (
    LIST_TIMEOUT_S,
    UNPLUG,
    Attached,
    CommandLine,
    Meaning,
    Order,
    Said,
    jedec_id,
    run_command,
)
from n6build.board.flash.programmer import Identity, RamProgram
from n6build.board.flash.sectors import Sector, runs_of
from n6build.board.flash.verify import check_read_back
from n6build.describe.hardware.board import Board

# Lower limit for time-outs: every probe should be much faster.
_SLOWEST_BYTES_A_SECOND = 20_000
_CONNECTING_S = 60
# Behind a reset, the boot ROM opens the core's access port after an unknown time; probe-rs waits for up to 500 ms, too.
OPENS_S = 0.5
# Messages of all programmers about a missing probe.
_MEANINGS = (Meaning(("no debug probe",), UNPLUG), Meaning(("disconnected",), UNPLUG), Meaning(("no probe",), UNPLUG))


@dataclass(frozen=True)
class ProbeProgrammer:
    """A `Programmer` of a real board.

    Attributes:
        kind: Command line of the programmer.
        command: Path of the programmer.
        name: Serial number of the probe.
        board: The board.
        record: Path of the board's record.
    """

    kind: CommandLine
    command: Path
    name: str
    board: Board
    record: Path

    @property
    def seconds_a_sector(self) -> float:
        """Return the estimate of its command line."""
        return self.kind.seconds_a_sector

    def still_holds(self) -> bool:
        """Return true: only reading from the board shows if the record fits."""
        return True

    def memory_state(self) -> str:
        """Return an empty text: the state is unknown without reading from the board."""
        return ""

    def identify(self) -> Identity:
        """Return the identity of the board.

        Raises:
            N6Error: N6-FLASH-016 if no board answers, or the answer has no device id.
        """
        said = self._obey(self.kind.identify, "N6-FLASH-016", "connecting", LIST_TIMEOUT_S)
        identity = self.kind.identity(said.output, self.board)
        if identity is None:
            raise _failure(self, "N6-FLASH-016", "connecting", said, "no device id")
        return identity

    def nor_id(self) -> int | None:
        """Return the JEDEC id of the NOR, None if the programmer cannot show it.

        Raises:
            N6Error: N6-FLASH-008 if it should, and does not.
        """
        order = self.kind.nor_id
        if order is None:
            return None
        said = self._said(order, LIST_TIMEOUT_S)[1]
        # A part that is not the expected one may fail to open, and has an id all the same.
        found = jedec_id(said.output)
        if found is None:
            raise _failure(self, "N6-FLASH-008", "reading the NOR's id", said, "no id")
        return found

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        """Return the bytes of each span.

        Raises:
            N6Error: N6-FLASH-008 if a span cannot be read completely.
        """
        with tempfile.TemporaryDirectory() as name:
            files = [(span, Path(name) / f"{number}.bin") for number, span in enumerate(spans)]
            self._fetch(files)
            # Some releases of a programmer carry out only the first of several reads.
            for span, path in files:
                if not path.is_file():
                    self._fetch([(span, path)])
            data = [content_of(path) if path.is_file() else b"" for _, path in files]
        for span, each in zip(spans, data, strict=True):
            if len(each) != span.size:
                what = f"the programmer read {len(each)} of {span.size} bytes at 0x{span.address:08X}"
                raise N6Error("N6-FLASH-008", what, where=f"probe {self.name}", hint=programming(self.board))
        return data

    def _fetch(self, files: Sequence[tuple[Span, Path]]) -> None:
        timeout_s = read_timeout_s(span.size for span, _ in files)
        self._obey(lambda attached: self.kind.read(attached, files), "N6-FLASH-008", "reading", timeout_s)

    def program(self, sectors: Sequence[Sector]) -> None:
        """Erase and write these sectors.

        Raises:
            N6Error: N6-FLASH-006 if a sector was not erased and written.
        """
        timeout_s = program_timeout_s(len(sectors), self.seconds_a_sector)
        self._obey(
            lambda attached: self.kind.program(attached, _image_files(sectors, attached.folder)),
            "N6-FLASH-006",
            "programming",
            timeout_s,
        )

    def verify(self, sectors: Sequence[Sector]) -> None:
        """Verify these sectors.

        Raises:
            N6Error: N6-FLASH-004 if the board holds other bytes.
        """
        verify = self.kind.verify
        if verify is None:
            check_read_back(sectors, self.read, f"probe {self.name}")
            return
        timeout_s = read_timeout_s(sector.size for sector in sectors)
        self._obey(
            lambda attached: verify(attached, _image_files(sectors, attached.folder)),
            "N6-FLASH-004",
            "verifying",
            timeout_s,
        )

    def reset(self) -> None:
        """Start the programs in flash.

        Raises:
            N6Error: N6-FLASH-009 if the board did not restart.
        """
        self._obey(self.kind.reset, "N6-FLASH-009", "the reset", LIST_TIMEOUT_S, running(self.board))

    def start(self, program: RamProgram) -> None:
        """Write a program into RAM and start it there.

        The pin resets the board before, since writing the program counter is no reset: an active HardFault masks all
        other exceptions, caches and MPU stay as the program before has left them. A reset behind it would erase the RAM.

        Raises:
            N6Error: N6-FLASH-009 if the program did not start.
        """

        def order(attached: Attached) -> Order:
            path = attached.folder / "program.bin"
            path.write_bytes(program.data)
            return self.kind.start(attached, program, path)

        self._obey(self.kind.reset, "N6-FLASH-009", "the start", LIST_TIMEOUT_S)
        time.sleep(OPENS_S)
        self._obey(order, "N6-FLASH-009", "the start", LIST_TIMEOUT_S)

    def _obey(
        self, order: Callable[[Attached], Order], id: str, doing: str, timeout_s: int, selectors: str = ""
    ) -> Said:
        """Carry out an order and return its output; raise the error `id` if it failed.

        Args:
            order: Function that returns the order.
            id: Id of the error.
            doing: Name of the action, for the error.
            timeout_s: Longest time in seconds.
            selectors: Hint on the boot selectors; by default the one for programming.
        """
        given, said = self._said(order, timeout_s)
        done = said.output.count(given.done) if given.done else given.parts
        if said.failed or done < given.parts:
            otherwise = f"it printed '{given.done}' {done} of {given.parts} times"
            raise _failure(self, id, doing, said, otherwise, selectors)
        return said

    def _said(self, order: Callable[[Attached], Order], timeout_s: int) -> tuple[Order, Said]:
        """Carry out an order, and return it with its output."""
        with tempfile.TemporaryDirectory() as folder:
            # Scripts and flash algorithms are no sources of the step that programs: what it leaves does not depend on them,
            # no more than on the programmer itself. A context of its own notes no file.
            given = Context().run(order, Attached(self.command, self.name, self.board, Path(folder)))
            said = run_command(self.command, given.arguments, timeout_s)
            for arguments in given.more:
                if said.failed and not given.goes_on:
                    break
                then = run_command(self.command, arguments, timeout_s)
                said = Said(said.output + then.output, said.status or then.status)
            return given, said


def _failure(
    programmer: ProbeProgrammer, id: str, doing: str, said: Said, otherwise: str, selectors: str = ""
) -> N6Error:
    """Return the error of a failed command.

    `selectors` is the hint for output without a known meaning.
    """
    output = said.output.lower()
    meanings = (*programmer.kind.meanings, *_MEANINGS)
    known = (each.hint for each in meanings if all(word.lower() in output for word in each.words))
    hint = next(known, "") or selectors or programming(programmer.board)
    return N6Error(id, f"{doing} failed: {said.complaint(otherwise)}", where=f"probe {programmer.name}", hint=hint)


def _image_files(sectors: Sequence[Sector], folder: Path) -> list[tuple[int, Path]]:
    """Write each run of sectors to a file, and return addresses and files."""
    files = []
    for run in runs_of(sectors):
        path = folder / f"{run[0].address:08x}.bin"
        with path.open("wb") as file:
            file.writelines(sector.data for sector in run)
        files.append((run[0].address, path))
    return files


def program_timeout_s(sectors: int, seconds_a_sector: float) -> int:
    """Return three times the estimated seconds, plus the time to connect."""
    return _CONNECTING_S + int(3 * sectors * seconds_a_sector)


def read_timeout_s(sizes: Iterable[int]) -> int:
    """Return the longest time of a read in seconds; sizes are in bytes."""
    return _CONNECTING_S + sum(sizes) // _SLOWEST_BYTES_A_SECOND
