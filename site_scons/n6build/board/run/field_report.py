"""A field report: the observations of one run of a board.

The file has text for people, followed by the same content as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from n6build.base.console import clipped, printable
from n6build.base.files import sha256, to_json
from n6build.board.run.console_log import EpochCycles
from n6build.board.run.field_facts import FACTS, Evidence, Verdict
from n6build.board.run.field_readings import Reading, is_reading
from n6build.board.run.ladder import ladder_lines
from n6build.board.run.session import NetworkOutcome, Outcome
from n6build.judge.own_blobs.board_record import Ladder

FORMAT = "n6build field report"
VERSION = 1
# Limits for a board that prints without end, or never ends a line.
_MOST_LINES, _LONGEST_LINE = 2000, 400


@dataclass(frozen=True)
class Inference:
    """First inference of a network.

    Attributes:
        model: Name of the model.
        cycles: Cycles, or instructions if Report.counts is "instructions".
        equal: True if the outputs equal the reference; None if not compared.
        near: True if the outputs are within the tolerance; None if not compared.
        epochs: Cycles by ST's number of the epoch.
    """

    model: str
    cycles: int | None
    equal: bool | None
    near: bool | None
    epochs: dict[int, EpochCycles]


@dataclass(frozen=True)
class JudgedFact:
    """A `FieldFact` with its verdict and observation."""

    id: str
    says: str
    settles: str
    verdict: Verdict
    observed: str


@dataclass(frozen=True)
class Stopped:
    """The error that ended the run."""

    id: str
    what: str


@dataclass(frozen=True)
class FieldReport:
    """Observations of one run of a board.

    Attributes:
        n6build: Version of n6build.
        board: Name of the board.
        profile: Memory profile of the network.
        virtual: True for the virtual board.
        start: Value of option start.
        probe: Hash of the probe's serial number, equal in all reports of a board; empty for the
            virtual board.
        programmer: Programmer with its version.
        device: Chip that the programmer found.
        versions: Name and version of each tool.
        clock_hz: Clock of the CPU that the board printed.
        counts: Unit of all cycles.
        inferences: First inference of each network.
        facts: Judged facts.
        readings: Printed registers.
        not_modelled: Names of registers that the virtual board only stores.
        findings: Findings of the virtual board.
        stopped: None if the run was complete.
        console: Lines of the console.
        npu_hz: Clock of the NPU in the board's description.
        nor_hz: Clock of the NOR in the board's description.
        ladder: Record of target ladder on this board; None if it was not run.
    """

    n6build: str
    board: str
    profile: str
    virtual: bool
    start: Literal["flash", "ram"]
    probe: str
    programmer: str
    device: str
    versions: tuple[tuple[str, str], ...]
    clock_hz: int
    counts: Literal["cycles", "instructions"]
    inferences: tuple[Inference, ...]
    facts: tuple[JudgedFact, ...]
    readings: tuple[Reading, ...]
    not_modelled: tuple[str, ...]
    findings: tuple[str, ...]
    stopped: Stopped | None
    console: tuple[str, ...]
    npu_hz: int = 0
    nor_hz: int = 0
    ladder: Ladder | None = None


def hashed_serial(serial: str) -> str:
    """Return a short hash that identifies a serial number without showing it."""
    return sha256(serial.encode())[:12]


def judged(evidence: Evidence) -> tuple[JudgedFact, ...]:
    """Return the verdicts on all facts, in the order of the facts."""
    judgements = ((fact, fact.judge(evidence)) for fact in FACTS)
    return tuple(JudgedFact(fact.id, fact.says, fact.settles, each.verdict, each.observed) for fact, each in judgements)


def inferences_of(outcome: Outcome) -> tuple[Inference, ...]:
    """Return the first inference of each network."""
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
    """Return the console lines without readings, which have their own list."""
    shown = [clipped(printable(line), _LONGEST_LINE) for line in lines if not is_reading(line)]
    return tuple(shown[:_MOST_LINES])


def field_report_text(report: FieldReport) -> str:
    """Return the text of field_report.md."""
    document = to_json({"format": FORMAT, "version": VERSION, **asdict(report)})
    return f"{_for_people(report)}\n## All of it\n\n```json\n{document.rstrip()}\n```\n"


def _for_people(report: FieldReport) -> str:
    kind = "the virtual board" if report.virtual else f"a board (probe {report.probe})"
    lines = [
        f"# Field report: {report.board}",
        "",
        f"By n6build {report.n6build}, of {kind}, started from {report.start}.",
    ]
    if report.virtual:
        lines.append("These are values of the virtual board's models: they prove nothing about the chip.")
    if report.stopped:
        lines += ["", f"The run ended with {report.stopped.id}: {_code(report.stopped.what)}"]
    lines += [
        "",
        "## Assumptions",
        "",
        "| | fact | verdict | observed | consequence |",
        "|---|---|---|---|---|",
    ]
    for fact in report.facts:
        lines.append(f"| {fact.id} | {fact.says} | **{fact.verdict}** | {_code(fact.observed)} | {fact.settles} |")
    lines += ["", "## One inference", ""]
    for each in report.inferences:
        lines += _inference_lines(each, report)
    if not report.inferences:
        lines.append("None.")
    lines += ["", "## Blobs without ST's compiler (target ladder)", ""]
    lines += ladder_lines(report.ladder) if report.ladder else ["`scons backend=neural_art ladder` was not run before."]
    lines += ["", "## Measurement", "", *measurement_lines(report)]
    lines += ["", "## Versions", ""]
    lines += [f"- {name}: {_code(version)}" for name, version in report.versions]
    lines += [f"- programmer: {_code(report.programmer)}, found {_code(report.device or 'nothing')}"]
    lines += ["", "## Registers", "", "```"]
    lines += [_register_line(each, report.not_modelled) for each in report.readings] or ["none was printed"]
    lines += ["```", "", "## Console", "", "```"]
    # A code fence in the console's text would end this one.
    lines += [line.replace("```", "'''") for line in report.console] or ["nothing was printed"]
    lines += ["```", ""]
    if report.findings:
        lines += ["## Findings", "", *(f"- {_code(each)}" for each in report.findings), ""]
    return "\n".join(lines)


def measurement_lines(report: FieldReport) -> list[str]:
    """Return the entries of a real board for boards/soc/stm32n6-timings.yaml.

    There is a line for each network that was timed; the virtual board has none.
    """
    timed = [each for each in report.inferences if each.cycles]
    if report.virtual or report.counts != "cycles" or not report.clock_hz or not timed:
        return ["None: only the cycles of a real board give a time."]
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
    """Return any text as a valid YAML string in quotation marks."""
    shown = re.sub(r'["\\`]', "'", printable(text))
    return f'"{shown}"'


def _code(text: str) -> str:
    """Return any text as code that is safe in a Markdown table."""
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
