"""File of the emulator on a run: a line of JSON for each finding, and a summary.

The emulator writes the summary when it ends properly.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.board.virtual_board.findings import Finding, Unmodelled
from n6build.board.virtual_board.source_lines import Places

# A finding has a few hundred bytes, and each is written once.
_MOST_BYTES = 64 << 20


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
    """

    ended: str = ""
    pc: int = 0
    instructions: int = 0
    banks_on: tuple[str, ...] = ()
    cleaned: tuple[tuple[int, int], ...] = ()
    unmodelled: tuple[tuple[int, int, int, int], ...] = ()


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
    summary = Summary()
    lines = read_at_most(path, _MOST_BYTES).split(b"\n")[:-1] if path.is_file() else []
    for number, text in enumerate(lines, 1):
        try:
            line = decode_json(text, _Line)
            if line.kind == "summary":
                summary = _summary(line)
            else:
                findings.append(Finding(line.kind, line.text, places.of(int(line.pc, 16))))
        except ValueError as error:
            what = f"is not a valid file of the virtual board: {error}"
            hint = "run it again: no other program may write to this file"
            raise N6Error("N6-VB-010", what, where=f"{path.name}:{number}", hint=hint) from error
    return findings, summary


def _summary(line: _Line) -> Summary:
    """Return the summary in a line; raise ValueError for an invalid number."""
    return Summary(
        line.ended,
        int(line.pc, 16),
        line.instructions,
        line.banks_on,
        tuple((int(start, 16), int(end, 16)) for start, end in line.cleaned),
        tuple((int(address, 16), int(pc, 16), reads, writes) for address, pc, reads, writes in line.unmodelled),
    )


def unmodelled_of(summary: Summary, places: Places) -> tuple[Unmodelled, ...]:
    """Return the registers without a model, in the order of the summary."""
    return tuple(Unmodelled(address, places.of(pc), reads, writes) for address, pc, reads, writes in summary.unmodelled)
