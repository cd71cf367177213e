"""File of the emulator on a run: a line of JSON for each finding, and a summary.

The emulator writes the summary when it ends properly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.board.virtual_board.findings import Finding, Unmodelled
from n6build.board.virtual_board.source_lines import Places

_Words = tuple[str, ...]
# A finding has a few hundred bytes, and each is written once.
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class State:
    """State of the processor where a program stops.

    Attributes:
        registers: r0 to r15.
        exception: Number of the exception that is handled; 0 for none.
        faults: CFSR, HFSR, MMFAR, BFAR, SFSR, SFAR.
        limits: MSPLIM, PSPLIM, CONTROL.
        texts: Texts that r0 to r3 point to, or empty.
        code: Address of some code around the program counter, and its bytes.
        stack: Address of the top of the stack, and its bytes.
    """

    registers: tuple[int, ...] = (0,) * 16
    exception: int = 0
    faults: tuple[int, ...] = (0,) * 6
    limits: tuple[int, ...] = (0,) * 3
    texts: tuple[str, ...] = ("",) * 4
    code: tuple[int, bytes] = (0, b"")
    stack: tuple[int, bytes] = (0, b"")


@dataclass(frozen=True)
class Wait:
    """A register that the program reads until the end, without progress.

    Attributes:
        address: Address of the register.
        pc: Instruction that reads it.
        value: Value that it has.
        reads: Number of reads.
        since: Instructions at which the program began to wait.
        registers: r0 to r14 at a read.
        code: Bytes from `pc` on.
        stack: Bytes from the stack pointer on.
    """

    address: int
    pc: int
    value: int
    reads: int
    since: int
    registers: tuple[int, ...]
    code: bytes
    stack: bytes = b""


@dataclass(frozen=True)
class Stops:
    """Places where a program has stopped.

    Attributes:
        functions: States at the first instruction of the named functions and of fault handlers.
        state: State at the end; None if the emulator did not end properly.
        waits: Registers that the program waits for at the end.
        asleep: True if the processor sleeps at the end.
        interrupts: Numbers of the enabled interrupts.
    """

    functions: tuple[State, ...] = ()
    state: State | None = None
    waits: tuple[Wait, ...] = ()
    asleep: bool = False
    interrupts: tuple[int, ...] = ()


NO_STOPS = Stops()


@dataclass(frozen=True)
class Summary:
    """Summary of a run.

    Attributes:
        ended: The reached limit, or empty.
        pc: Last place of the program.
        instructions: Number of executed instructions.
        banks_on: Names of RAM banks that were on.
        cleaned: Start and end of each cleaned range.
        unmodelled: Address, program counter, reads and writes of each register without a model.
        stops: Places where the program has stopped.
    """

    ended: str = ""
    pc: int = 0
    instructions: int = 0
    banks_on: tuple[str, ...] = ()
    cleaned: tuple[tuple[int, int], ...] = ()
    unmodelled: tuple[tuple[int, int, int, int], ...] = ()
    stops: Stops = NO_STOPS


@dataclass(frozen=True)
class _State:
    exception: int
    registers: _Words
    faults: _Words
    limits: _Words
    texts: _Words
    code_at: str
    code: str
    stack_at: str
    stack: str

    def decoded(self) -> State:
        if (len(self.registers), len(self.faults), len(self.limits), len(self.texts)) != (16, 6, 3, 4):
            raise ValueError("a state with another number of registers")
        return State(
            _numbers(self.registers),
            self.exception,
            _numbers(self.faults),
            _numbers(self.limits),
            self.texts,
            (int(self.code_at, 16), bytes.fromhex(self.code)),
            (int(self.stack_at, 16), bytes.fromhex(self.stack)),
        )


@dataclass(frozen=True)
class _Wait:
    address: str
    pc: str
    value: str
    reads: int
    since: int
    registers: _Words
    code: str
    stack: str = ""

    def decoded(self) -> Wait:
        if len(self.registers) != 15:
            raise ValueError("a wait with another number of registers")
        address, pc, value = _numbers((self.address, self.pc, self.value))
        code, stack = bytes.fromhex(self.code), bytes.fromhex(self.stack)
        return Wait(address, pc, value, self.reads, self.since, _numbers(self.registers), code, stack)


def _numbers(words: _Words) -> tuple[int, ...]:
    return tuple(int(word, 16) for word in words)


@dataclass(frozen=True)
class _Line:
    """A line of the file; its addresses are hexadecimal."""

    kind: str
    text: str = ""
    pc: str = "0"
    ended: str = ""
    instructions: int = 0
    banks_on: tuple[str, ...] = ()
    cleaned: tuple[tuple[str, str], ...] = ()
    unmodelled: tuple[tuple[str, str, int, int], ...] = ()
    waits: tuple[_Wait, ...] = ()
    asleep: bool = False
    interrupts: tuple[int, ...] = ()
    state: _State | None = None


def read_findings(path: Path, places: Places) -> tuple[list[Finding], Summary]:
    """Read the findings and the summary.

    The summary is empty if the emulator did not end properly. Then the last line may be cut off, and is
    left out.

    Args:
        path: File of the emulator.
        places: Places of the programs.

    Raises:
        N6Error: N6-VB-010 if another line is invalid; N6-FILE-003.
    """
    findings: list[Finding] = []
    functions: list[State] = []
    summary = Summary()
    lines = read_at_most(path, _MOST_BYTES).split(b"\n")[:-1] if path.is_file() else []
    for number, text in enumerate(lines, 1):
        try:
            line = decode_json(text, _Line)
            if line.kind == "summary":
                summary = _summary(line)
            elif line.kind == "stop" and line.state:
                functions.append(line.state.decoded())
            else:
                findings.append(Finding(line.kind, line.text, places.of(int(line.pc, 16))))
        except ValueError as error:
            raise damaged(f"{path.name}:{number}", error) from error
    return findings, replace(summary, stops=replace(summary.stops, functions=tuple(functions)))


def damaged(where: str, error: ValueError) -> N6Error:
    """Return the error about an invalid file of the emulator, N6-VB-010.

    Args:
        where: Name of the file, and a line.
        error: Reason of the decoder.
    """
    what = f"is not a valid file of the virtual board: {error}"
    return N6Error("N6-VB-010", what, where=where, hint="run it again: no other program may write to this file")


def _summary(line: _Line) -> Summary:
    """Return the summary in a line; raise ValueError for an invalid number."""
    return Summary(
        line.ended,
        int(line.pc, 16),
        line.instructions,
        line.banks_on,
        tuple((int(start, 16), int(end, 16)) for start, end in line.cleaned),
        tuple((int(address, 16), int(pc, 16), reads, writes) for address, pc, reads, writes in line.unmodelled),
        Stops(
            state=line.state.decoded() if line.state else None,
            waits=tuple(wait.decoded() for wait in line.waits),
            asleep=line.asleep,
            interrupts=line.interrupts,
        ),
    )


def unmodelled_of(summary: Summary, places: Places) -> tuple[Unmodelled, ...]:
    """Return the registers without a model, in the order of the summary."""
    return tuple(Unmodelled(address, places.of(pc), reads, writes) for address, pc, reads, writes in summary.unmodelled)
