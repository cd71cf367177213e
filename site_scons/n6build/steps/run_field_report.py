"""Step of the field report: boots a board, runs an inference, records readings.

The programs on the board are those of a field report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import clipped, say
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.version import version
from n6build.board.flash.command_line import LIST_TIMEOUT_S, run_command
from n6build.board.flash.probe_programmer import ProbeProgrammer
from n6build.board.flash.programmer import Programmer
from n6build.board.flash.receipt import VIRTUAL
from n6build.board.run.field_facts import Evidence
from n6build.board.run.field_readings import is_reading, readings_of
from n6build.board.run.field_report import (
    FieldReport,
    Stopped,
    console_lines,
    field_report_text,
    hashed_serial,
    inferences_of,
    judged,
)
from n6build.board.run.session import Outcome, show_line
from n6build.compile.ll_aton import version_text
from n6build.compile.runtimes import RuntimeVersion
from n6build.compile.toolchain import compiler_version
from n6build.describe.hardware.board import Board
from n6build.engine.step import Call, Step
from n6build.judge.own_blobs.board_record import Ladder, read_ladder
from n6build.steps.ask_board import AskingParameters, ask, asking_step
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.flash_board import Target
from n6build.steps.reference_outputs import Expected
from n6build.steps.run_board import Session, as_run, linked_network, network_on_board

# Longest text in a report, in characters: the text of an error may contain the output of a programmer.
_LONGEST_TEXT = 2000


@dataclass(frozen=True)
class RunFieldReportParameters(AskingParameters):
    """Parameters of the step.

    Attributes:
        runtime: Linked runtime.
        profile: Memory profile.
        report: Path of the report.
        ladder: Record of target ladder.
    """

    runtime: RuntimeVersion
    profile: str
    report: str
    ladder: str


def field_report_step(
    report: str,
    ladder: str,
    receipts: Sequence[str],
    networks: Sequence[tuple[NetworkSteps, Expected]],
    runtime: RuntimeVersion,
    profile: str,
    elves: Mapping[str, str],
    board: Board,
    target: Target,
    console: str,
) -> Step:
    """Return the step that writes a field report.

    Args:
        report: Path of the report in Markdown. Its folder holds only records of boards.
        ladder: Record of target ladder in the same folder.
        receipts: Receipts of the programmed board.
        networks: Each network with its expected outputs.
        runtime: Linked runtime.
        profile: Memory profile.
        elves: Available ELF files by name, FSBL first.
        board: Board of the report.
        target: Board and programmer.
        console: Serial port; empty for the port of the probe.

    Raises:
        N6Error: N6-OPTION-014 if start=ram has no ELF file of the FSBL.
    """
    described = [(each, network_on_board(each, expected)) for each, expected in networks]
    on_board = tuple(network for _, network in described)
    parameters = RunFieldReportParameters(
        target, on_board, len(elves), console, version(), runtime, profile, report, ladder
    )
    function = "n6build.steps.run_field_report:perform_run_field_report"
    return asking_step("Ask", function, report, receipts, described, elves, board, target, parameters)


def perform_run_field_report(call: Call) -> None:
    """Write the report, even if the run fails.

    Raises:
        N6Error: N6-FIELD-002, after writing, if the run did not reach its end.
    """
    given = call.parameters_as(RunFieldReportParameters)
    board, programmer = given.target.opened()
    prepared = [as_run(each) for each in given.networks]
    networks = [linked_network(model, artifacts, Session(runs=1)) for model, artifacts in prepared]
    lines: list[str] = []

    def on_line(line: str) -> None:
        lines.append(line)
        if not is_reading(line):
            show_line(line)

    outcome: Outcome | None = None
    stopped: N6Error | None = None
    try:
        elves = call.sources[: given.elves]
        # The virtual board starts as the boot ROM is documented to leave the chip, less strictly than in other runs.
        outcome = ask(given.target, board, programmer, given.console, networks, elves, on_line, strict_clocks=False)
    except N6Error as error:
        stopped = error
    readings = readings_of(lines, board.soc)
    tools = [tool for _, artifacts in prepared for tool in artifacts.tools]
    runtime = f"{version_text(given.runtime.version)} ({'n6build' if given.runtime.name == 'n6build' else 'ST'})"
    is_virtual = given.target.probe == VIRTUAL
    stored = {each.name.replace(" ", ".") for each in outcome.registers} if outcome else set()
    probe = "" if is_virtual else hashed_serial(programmer.name)
    report = FieldReport(
        n6build=given.n6build,
        board=board.name,
        profile=given.profile,
        virtual=is_virtual,
        start=given.target.start,
        probe=probe,
        programmer=_programmer_version(programmer),
        device=_device(programmer),
        versions=(*dict.fromkeys(tools), ("ll_aton", runtime), ("compiler", compiler_version(read_environment()))),
        clock_hz=outcome.clock_hz if outcome else 0,
        counts=outcome.counts if outcome else "cycles",
        inferences=inferences_of(outcome) if outcome else (),
        facts=judged(Evidence(board, readings, lines, given.target.start)),
        readings=readings,
        not_modelled=tuple(sorted(each.name for each in readings if each.name in stored)),
        findings=tuple(clipped(each, _LONGEST_TEXT) for each in outcome.findings) if outcome else (),
        stopped=Stopped(stopped.id, clipped(_without_serial(stopped, programmer), _LONGEST_TEXT)) if stopped else None,
        console=console_lines(lines),
        npu_hz=board.clock.npu_hz,
        nor_hz=board.nor_clock_hz,
        ladder=ladder_of(Path(given.ladder), board.name, probe, is_virtual=is_virtual),
    )
    file = Path(given.report)
    write_atomically(file, field_report_text(report))
    _say(report, file)
    if stopped:
        what = f"the run did not reach its end: {stopped.id}: {stopped.what}"
        hint = f"{stopped.hint}; " if stopped.hint else ""
        hint += f"keep {file}, which has all observations up to then"
        raise N6Error("N6-FIELD-002", what, where=stopped.where, hint=hint) from stopped
    write_atomically(call.outputs[0], "")


def ladder_of(record: Path, board: str, probe: str, *, is_virtual: bool) -> Ladder | None:
    """Return the ladder record of this board, or None.

    A missing record, an invalid one, or one of another board gives None.
    """
    try:
        ladder = read_ladder(record)
    except N6Error as error:
        say("Note", f"{record.name}: {error.what}", "the report does not include it")
        return None
    same = ladder and (ladder.board, ladder.virtual, ladder.probe) == (board, is_virtual, probe)
    return ladder if same else None


def _without_serial(error: N6Error, programmer: Programmer) -> str:
    return error.what if programmer.name == VIRTUAL else error.what.replace(programmer.name, "(serial number)")


def _programmer_version(programmer: Programmer) -> str:
    """Return the programmer's name and, if its output contains one, its version."""
    if not isinstance(programmer, ProbeProgrammer):
        return programmer.name
    try:
        said = run_command(programmer.command, ["--version"], LIST_TIMEOUT_S).output
    except N6Error:
        said = ""
    number = re.search(r"\d+\.\d+(\.\d+)?\S{0,20}", said)
    return f"{programmer.kind.name} {number[0]}" if number else f"{programmer.kind.name}, version unknown"


def _device(programmer: Programmer) -> str:
    """Return the device that the debugger detects, even if the console is silent."""
    if not isinstance(programmer, ProbeProgrammer):
        return ""
    try:
        found = programmer.identify()
    except N6Error as error:
        return f"no board: {error.id}"
    return f"{found.board} 0x{found.device_id:03X}".strip() if found.device_id is not None else found.board


def _say(report: FieldReport, path: Path) -> None:
    for fact in report.facts:
        if fact.verdict in ("does not hold", "look"):
            say("Fact", f"{fact.id}: {fact.observed}", fact.verdict)
    verdicts = [fact.verdict for fact in report.facts]
    counted = [f"{verdicts.count(each)} {each}" for each in dict.fromkeys(verdicts)]
    say("Report", str(path), f"{len(report.readings)} registers; facts: {', '.join(counted)}")
    if report.virtual:
        say("Note", "values of the virtual board's models", "they prove nothing about the chip")
