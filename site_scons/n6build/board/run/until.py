"""Run of a program on the virtual board until it reaches a goal.

A goal is a text on the console, a symbol, an address, a number of instructions or of pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error, did_you_mean
from n6build.board.run.registers import registers_of
from n6build.board.run.session import Outcome, Watched
from n6build.board.run.stops import say_stops
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.findings import show_findings
from n6build.board.virtual_board.run import Limits, NorBoot, RunResult, run_nor
from n6build.board.virtual_board.source_lines import symbols_of
from n6build.describe.until import Until

_PROGRAMS = {"fsbl": "FSBL", "appli": "Appli"}


def run_until(
    boot: NorBoot, until: Until, programs: Mapping[str, Path], *, gdb: bool, on_line: Callable[[str], None]
) -> Outcome:
    """Run the virtual board until it reaches the goal or gives up.

    Args:
        boot: Images and options of the virtual board.
        until: The goal.
        programs: Available ELF files by name: FSBL, Appli.
        gdb: True to wait for a debugger.
        on_line: Called with each line of the console.

    Raises:
        N6Error: N6-RUN-010 for a symbol that no program has.
    """
    address = _address(until, programs)
    result = run_nor(
        find_emulator(boot.board.soc),
        boot,
        programs=[*programs.values()],
        stop=lambda _: False,
        on_line=on_line,
        limits=_limits(until, address),
        gdb=gdb,
    )
    show_findings(result.findings)
    # Warnings are listed, too: no finding fails a program that is only watched.
    findings = tuple(str(finding) for finding in result.findings)
    why = _why_not(until, result)
    board = boot.board
    say_stops(board, [*programs.values()], result, ended_early=bool(why) or result.ended == "timeout")
    watched = Watched(str(until), why, result.instructions, result.at, len(result.lines))
    say("Ended", watched.sentence, f"{len(findings)} findings" if findings else "")
    outcome = Outcome(board.name, board.clock.cpu_hz, "instructions", (), findings, {})
    return replace(outcome, registers=registers_of(board, result.unmodelled), watched=watched)


def _limits(until: Until, address: int | None) -> Limits:
    if until.kind == "instructions":
        return Limits(until.number, None)
    if until.kind == "frames":
        return Limits(silence=None, shown=until.number)
    return Limits(text=until.value) if address is None else Limits(silence=None, until=address)


def _address(until: Until, programs: Mapping[str, Path]) -> int | None:
    """Return the address of the goal, None for other goals.

    A symbol of both programs is the Appli's, since it runs last.
    """
    if until.kind == "address":
        return until.number
    if until.kind != "symbol":
        return None
    program, colon, name = until.value.partition(":")
    if not colon or program not in _PROGRAMS:
        program, name = "", until.value
    known: dict[str, int] = {}
    for title, elf in programs.items():
        if not program or title == _PROGRAMS[program]:
            known |= symbols_of(elf)
    if name not in known:
        what = f"no symbol '{name}' in {', '.join(path.name for path in programs.values()) or 'any file'}"
        hint = (
            ("pass the programs as ELF files, or put their ELF files beside them")
            if not known
            else did_you_mean(name, known)
        )
        raise N6Error("N6-RUN-010", what, where="option until", hint=hint)
    return known[name]


def _why_not(until: Until, result: RunResult) -> str:
    """Return the reason for a missed goal, empty if it was reached."""
    if result.ended == ("timeout" if until.kind == "instructions" else "until"):
        return ""
    if result.ended == "exited":
        return f"the emulator ended: {result.findings[-1].text}" if result.findings else "the emulator ended"
    if result.ended == "silent":
        return f"the console has been silent for {Limits().silence:,} instructions"
    return "it reached the limit" if result.ended == "timeout" else "the run was stopped"
