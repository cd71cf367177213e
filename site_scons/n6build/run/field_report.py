"""A field report: what one run of a board has shown, as text for people with the same as JSON behind it, in one file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from n6build.base.bounded import decode_json
from n6build.base.console import clipped, printable
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most, sha256, to_json
from n6build.own_blobs.board_record import Ladder
from n6build.run.console_log import EpochCycles
from n6build.run.field_facts import FACTS, Evidence, Verdict
from n6build.run.field_readings import Reading, is_reading
from n6build.run.ladder import ladder_lines
from n6build.run.session import NetworkOutcome, Outcome

FORMAT = "n6build field report"
VERSION = 1
_MOST_BYTES = 8 << 20
# A board that never ends its line.
_MOST_LINES, _LONGEST_LINE = 2000, 400
_BEGINS, _ENDS = "\n```json\n", "\n```\n"

Text = Annotated[str, Meta(max_length=4096)]


@dataclass(frozen=True)
class Inference:
    """cycles: of the first one; instructions where Report.counts says so. epochs: by ST's number. equal: whether the outputs are
    those of the reference; None where nothing was compared."""

    model: Text
    cycles: int | None
    equal: bool | None
    near: bool | None
    epochs: dict[int, EpochCycles]


@dataclass(frozen=True)
class JudgedFact:
    """As `FieldFact`, with what was observed."""

    id: Text
    says: Text
    settles: Text
    verdict: Verdict
    observed: Text


@dataclass(frozen=True)
class Stopped:
    """The error that ended the run."""

    id: Text
    what: Text


@dataclass(frozen=True)
class FieldReport:
    """probe: a hash of its serial number, by which reports about one board are known; empty for the virtual board. programmer:
    and what it says of its version. device: what the programmer found. clock_hz: of the CPU, as the board says; npu_hz,
    nor_hz: as it is described. counts: what cycles are. not_modelled: names of registers that the virtual board only
    stores. stopped: None if the run got to its end. ladder: what target ladder has found on this board; None if it was not
    run."""

    n6build: Text
    board: Text
    profile: Text
    virtual: bool
    start: Literal["flash", "ram"]
    probe: Text
    programmer: Text
    device: Text
    versions: tuple[tuple[Text, Text], ...]
    clock_hz: int
    counts: Literal["cycles", "instructions"]
    inferences: tuple[Inference, ...]
    facts: tuple[JudgedFact, ...]
    readings: tuple[Reading, ...]
    not_modelled: tuple[Text, ...]
    findings: tuple[Text, ...]
    stopped: Stopped | None
    console: tuple[Text, ...]
    npu_hz: int = 0
    nor_hz: int = 0
    ladder: Ladder | None = None


class _Head(Struct):
    format: str
    version: int
    n6build: Text


def hashed_serial(serial: str) -> str:
    """Says nothing of the serial number, but is the same for the same one."""
    return sha256(serial.encode())[:12]


def judged(evidence: Evidence) -> tuple[JudgedFact, ...]:
    """All facts, in their order."""
    judgements = ((fact, fact.judge(evidence)) for fact in FACTS)
    return tuple(JudgedFact(fact.id, fact.says, fact.settles, each.verdict, each.observed) for fact, each in judgements)


def inferences_of(outcome: Outcome) -> tuple[Inference, ...]:
    """The first of each network."""
    return tuple(_inference(network) for network in outcome.networks)


def _inference(network: NetworkOutcome) -> Inference:
    first = network.verdicts[0] if network.verdicts else None
    return Inference(
        network.model,
        first.cycles if first else None,
        first.equal if first else None,
        first.passes if first else None,
        network.epoch_cycles,
    )


def console_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """Those that are for people; the registers are listed by themselves."""
    shown = [clipped(printable(line), _LONGEST_LINE) for line in lines if not is_reading(line)]
    return tuple(shown[:_MOST_LINES])


def field_report_text(report: FieldReport) -> str:
    """The text of field_report.md."""
    document = to_json({"format": FORMAT, "version": VERSION, **asdict(report)})
    return f"{_for_people(report)}\n## All of it\n{_BEGINS}{document.rstrip()}{_ENDS}"


def read_field_report(path: Path) -> FieldReport:
    """Raises N6-FIELD-003 where the file is not one, N6-FIELD-004 where another version wrote it in another format, N6-FILE-002
    and N6-FILE-003."""
    data = read_at_most(path, _MOST_BYTES)
    begin, end = data.rfind(_BEGINS.encode()), data.rfind(_ENDS.encode())
    text = data[begin + len(_BEGINS) : end] if 0 <= begin < end else b""
    try:
        head = decode_json(text, _Head)
        if head.format != FORMAT:
            raise ValueError("its format is another one")
        if head.version != VERSION:
            what = (
                f"version {head.version} of the format, by n6build {printable(head.n6build)}; this one reads {VERSION}"
            )
            raise N6Error("N6-FIELD-004", what, where=str(path), hint="read it with that n6build")
        return decode_json(text, FieldReport)
    except ValueError as error:
        what = f"is not a field report: {printable(clipped(str(error), 200))}"
        raise N6Error(
            "N6-FIELD-003", what, where=str(path), hint="scons field-report writes field_report.md"
        ) from error


def _for_people(report: FieldReport) -> str:
    kind = "the virtual board" if report.virtual else f"a board (probe {report.probe})"
    lines = [
        f"# Field report: {report.board}",
        "",
        f"By n6build {report.n6build}, of {kind}, started from {report.start}.",
    ]
    if report.virtual:
        lines.append("These are the values of the virtual board's models: they settle nothing about the chip.")
    if report.stopped:
        lines += ["", f"The run ended with {report.stopped.id}: {_code(report.stopped.what)}"]
    lines += [
        "",
        "## What was taken for granted",
        "",
        "| | fact | verdict | observed | if not, or then |",
        "|---|---|---|---|---|",
    ]
    for fact in report.facts:
        lines.append(f"| {fact.id} | {fact.says} | **{fact.verdict}** | {_code(fact.observed)} | {fact.settles} |")
    lines += ["", "## One inference", ""]
    for each in report.inferences:
        lines += _inference_lines(each, report)
    if not report.inferences:
        lines.append("None was made.")
    lines += ["", "## Blobs without ST's compiler (target ladder)", ""]
    lines += ladder_lines(report.ladder) if report.ladder else ["`scons backend=neural_art ladder` was not run before."]
    lines += ["", "## Measurement", "", *measurement_lines(report)]
    lines += ["", "## Versions", ""]
    lines += [f"- {name}: {_code(version)}" for name, version in report.versions]
    lines += [f"- programmer: {_code(report.programmer)}, which found {_code(report.device or 'nothing')}"]
    lines += ["", "## Registers", "", "```"]
    lines += [_register_line(each, report.not_modelled) for each in report.readings] or ["none was printed"]
    lines += ["```", "", "## Console", "", "```"]
    # A fence of the console's own would end this one.
    lines += [line.replace("```", "'''") for line in report.console] or ["nothing was printed"]
    lines += ["```", ""]
    if report.findings:
        lines += ["## Findings", "", *(f"- {_code(each)}" for each in report.findings), ""]
    return "\n".join(lines)


def measurement_lines(report: FieldReport) -> list[str]:
    """A line for boards/soc/stm32n6-timings.yaml for each network that was timed, of a real board alone."""
    timed = [each for each in report.inferences if each.cycles]
    if report.virtual or report.counts != "cycles" or not report.clock_hz or not timed:
        return ["None: only a real board's cycles tell a time."]
    cpu, npu, nor = (round(hz / 1e6) for hz in (report.clock_hz, report.npu_hz, report.nor_hz))
    clocks = f"field-{cpu}-{npu}-{nor}"
    weights = {"noextmem": "on chip", "extram": "unknown"}.get(report.profile, "flash")
    compiler = next((version for name, version in report.versions if name != "ll_aton"), "")
    lines = ["For `boards/soc/stm32n6-timings.yaml`, and then `tools/fit_timing.py`:", "", "```yaml"]
    lines += ["sources:", f"  {report.probe}: {{what: a field report by n6build {report.n6build}, where: this file}}"]
    lines += ["clocks:", f"  {clocks}: {{cpu: {cpu}, npu: {npu}, nor: {nor}, sure: stated}}", "networks:"]
    for number, each in enumerate(timed, 1):
        row = {
            "id": f"{report.probe}-{number}",
            "what": _yaml_text(f"{each.model}, profile {report.profile}"),
            "ms": f"{1000 * (each.cycles or 0) / report.clock_hz:.3f}",
            "source": report.probe,
            "clocks": clocks,
            "sure": "stated",
            "compiler": _yaml_text(compiler),
            "weights": weights,
        }
        lines.append(f"  - {{{', '.join(f'{key}: {value}' for key, value in row.items())}}}")
    return [*lines, "```"]


def _yaml_text(text: str) -> str:
    """In quotation marks, whatever is in it."""
    shown = re.sub(r'["\\`]', "'", printable(text))
    return f'"{shown}"'


def _code(text: str) -> str:
    """As code in a table, whatever is in it."""
    shown = re.sub(r"[`|]", "'", printable(text))
    return f"`{shown}`" if shown else ""


def _inference_lines(inference: Inference, report: FieldReport) -> list[str]:
    count = f"{inference.cycles:,} {report.counts}" if inference.cycles is not None else "no count"
    time = ""
    if inference.cycles is not None and report.clock_hz and report.counts == "cycles":
        time = f" ({1000 * inference.cycles / report.clock_hz:.3f} ms at {report.clock_hz / 1e6:g} MHz)"
    compared = {True: "equal to the reference", False: "not equal to the reference", None: "not compared"}[
        inference.equal
    ]
    if inference.equal is False and inference.near:
        compared = "within the tolerance of the reference"
    lines = [f"{_code(inference.model)}: {count}{time}, outputs {compared}.", ""]
    if inference.epochs:
        lines += ["```", f"{'epoch':>6}{'start':>12}{'core':>14}{'end':>12}{'total':>14}"]
        for number, cycles in sorted(inference.epochs.items()):
            row = f"{number:>6}{cycles.start:>12,}{cycles.core:>14,}{cycles.end:>12,}{cycles.total:>14,}"
            lines.append(row)
        lines += ["```"]
    return lines


def _register_line(reading: Reading, not_modelled: Sequence[str]) -> str:
    address = f"0x{reading.address:08X}" if reading.address else " " * 10
    value = "fault     " if reading.value is None else f"0x{reading.value:08X}"
    fields = " ".join(f"{name}={bits}" for name, bits in reading.fields.items() if bits)
    stored = "(the virtual board has no model of it)" if reading.name in not_modelled else ""
    return f"{reading.moment:<6} {reading.name:<24} {address} {value} {fields or stored}".rstrip()
