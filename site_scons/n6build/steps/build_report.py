"""Step for the report on the build: an HTML page, also as text and JSON."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from n6build.base.console import say, show
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_bytes, write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.base.version import version
from n6build.board.run.comparison_text import measured_shares, result_lines, worst_outputs
from n6build.board.run.decoded import found_lines
from n6build.board.run.npu_epochs import HardwareEpoch, hardware_epochs
from n6build.board.run.session import Outcome, read_outcome
from n6build.check.run import read_results
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.ll_aton import version_text
from n6build.compile.runtimes import RuntimeVersion
from n6build.compile.toolchain import compiler_version
from n6build.describe.hardware.board import Board
from n6build.describe.preprocess import Preprocess
from n6build.engine.perform import Site, current_site
from n6build.engine.picture import NoPictureError, plan_svg
from n6build.engine.step import Call, Step, to_parameters
from n6build.judge.accuracy.figures import read_accuracy
from n6build.judge.npu.uses import npu_use
from n6build.judge.own_blobs.epoch_grades import EpochGrade, read_grades
from n6build.judge.timing.model import MODEL
from n6build.place.image.manifest import read_manifest
from n6build.place.image.sizes import program_extent
from n6build.place.memory_plan.plan import read_plan
from n6build.steps.board_files import BoardChoice, board_files, choice_of, chosen_board
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.network_times import expected_times
from n6build.tell import html
from n6build.tell.collect import collect
from n6build.tell.content import NetworkSection, NpuSection, RunSection, report_json
from n6build.tell.html import report_html
from n6build.tell.seen_picture import seen_inputs
from n6build.tell.text import report_text


@dataclass(frozen=True)
class _Network:
    name: str
    folder: str
    backend: str
    inputs: str
    accuracy: str
    preprocess: Preprocess


@dataclass(frozen=True)
class BuildReportParameters:
    """Parameters of the step.

    Attributes:
        board: Choices for the board.
        networks: Networks of the application.
        runtime: Linked runtime.
        run: Path of run.json; empty if nothing ran.
        picture: Path of the picture of the run; empty without one.
        programs: Names of the programs whose ELF files are among the sources.
        version: Version of n6build.
    """

    board: BoardChoice
    networks: tuple[_Network, ...]
    runtime: RuntimeVersion
    run: str
    picture: str
    programs: tuple[str, ...]
    version: str


def report_step(
    folder: str,
    board: Board,
    networks: Sequence[NetworkSteps],
    runtime: RuntimeVersion,
    plan: str,
    manifest: str,
    elves: Mapping[str, str],
    checks: str,
    run: str,
    picture: str,
    inputs: str,
    others: Sequence[str],
) -> Step:
    """Return the step that writes the report.

    Args:
        folder: Folder of the report.
        board: Board of the application.
        networks: Networks of the application.
        runtime: Linked runtime.
        plan: Path of memory_plan.json.
        manifest: Path of flash_manifest.json.
        elves: ELF files of this project's programs by name.
        checks: Path of checks.json.
        run: Path of run.json; empty if nothing runs.
        picture: Path of the picture of the run; empty without one.
        inputs: Path of the inputs of the run, for the first network; empty for the model's own.
        others: Further files of this build, made before the report.
    """
    described = tuple(_network(each, "" if number else inputs) for number, each in enumerate(networks))
    files = (file for each in networks for file in each.outputs)
    return Step(
        verb="Report",
        stage="report",
        outputs=tuple(f"{folder}/report.{suffix}" for suffix in ("html", "txt", "json")),
        sources=(
            plan,
            manifest,
            checks,
            *elves.values(),
            *dict.fromkeys(files),
            *filter(None, (run, picture)),
            *dict.fromkeys(file for each in described for file in (each.inputs, each.accuracy) if file),
            *board_files(board),
            project_path(MODEL),
        ),
        parameters=to_parameters(
            BuildReportParameters(choice_of(board), described, runtime, run, picture, tuple(elves), version())
        ),
        templates=tuple(map(project_path, with_included(html.TEMPLATE))),
        after=tuple(others),
        function="n6build.steps.build_report:make_build_report",
        # The report describes this very build, so it is made each time.
        always=True,
        shared=False,
    )


def _network(network: NetworkSteps, inputs: str) -> _Network:
    """Return a network with its inputs, unless they are random."""
    own = network.inputs if network.seeded is None or network.is_sampled else ""
    accuracy = next(iter(network.figures), "")
    how = network.model.preprocess
    return _Network(network.name, network.folder, network.backend.name, inputs or own, accuracy, how)


def make_build_report(call: Call) -> None:
    """Print the report, and write report.html, report.txt and report.json."""
    given = call.parameters_as(BuildReportParameters)
    plan, manifest, checks, *files = call.sources
    artifacts = [read_artifacts(Path(each.folder), each.name) for each in given.networks]
    tools = [tool for each in artifacts for tool in each.tools]
    site = current_site()
    runtime = given.runtime
    outcome = read_outcome(Path(given.run)) if given.run else None
    board = chosen_board(call.sources, given.board)
    report = collect(
        board=board,
        plan=read_plan(plan),
        manifest=read_manifest(manifest),
        networks=[(network.backend, each) for network, each in zip(given.networks, artifacts, strict=True)],
        programs=[program_extent(name, path) for name, path in zip(given.programs, files, strict=False)],
        cycles=_cycles(outcome) if outcome else [],
        checks=read_results(checks),
        versions=[
            ("n6build", given.version),
            *dict.fromkeys(tools),
            ("ll_aton", f"{version_text(runtime.version)} ({'n6build' if runtime.name == 'n6build' else 'ST'})"),
            ("compiler", compiler_version(read_environment())),
        ],
        actions=tuple(site.done) if site else (),
        seconds=time.monotonic() - site.began if site else 0.0,
    )
    parts = [_npu(each, board, outcome, number) for number, each in enumerate(artifacts)]
    times = expected_times(artifacts, board, outcome)
    sections = zip(report.networks, parts, times, strict=True)
    report = replace(report, networks=tuple(replace(each, npu=npu, time=time) for each, npu, time in sections))
    report = replace(report, networks=_with_inputs(report.networks, given.networks, artifacts))
    if outcome:
        report = replace(report, meanings=outcome.meanings, networks=_compared(report.networks, outcome))
    if outcome and outcome.counts == "instructions":
        report = replace(report, run=_run_section(outcome))
    if given.picture:
        report = replace(report, picture_png=read_bytes(Path(given.picture)))
    if site and site.plan.steps:
        report = replace(report, plan_svg=plan_picture(site))
    text = report_text(report)
    for path, content in zip(call.outputs, (report_html(report), text, report_json(report)), strict=True):
        write_atomically(path, content)
    show(text)
    say("Report", str(call.outputs[0]))


def plan_picture(site: Site) -> str:
    """Return the picture of the plan, or the reason why there is none, for a page."""
    try:
        return plan_svg(site.plan, {each.target for each in site.done})
    except NoPictureError as reason:
        return f"<p>Without a picture: {escape(str(reason))}</p>"


def _compared(sections: Sequence[NetworkSection], outcome: Outcome) -> tuple[NetworkSection, ...]:
    """Return the sections with comparison results; a watched program has none."""
    told = [
        (*result_lines([network]), *worst_outputs(network), *found_lines(network)) for network in outcome.networks
    ] or [()] * len(sections)
    measured = [measured_shares(network) for network in outcome.networks] or [{}] * len(sections)
    return tuple(
        replace(section, compared=lines, on_board=shares)
        for section, lines, shares in zip(sections, told, measured, strict=True)
    )


def _with_inputs(
    sections: Sequence[NetworkSection], networks: Sequence[_Network], artifacts: Sequence[NetworkArtifacts]
) -> tuple[NetworkSection, ...]:
    """Return the sections with the accuracy of int8 files and a picture of the inputs."""
    return tuple(
        replace(
            section,
            accuracy=read_accuracy(Path(network.accuracy)) if network.accuracy else None,
            seen=seen_inputs(Path(network.inputs), each.inputs, network.preprocess) if network.inputs else None,
        )
        for section, network, each in zip(sections, networks, artifacts, strict=True)
    )


def _cycles(outcome: Outcome) -> list[dict[int, int]]:
    return [{epoch: cycles.total for epoch, cycles in network.epoch_cycles.items()} for network in outcome.networks]


def _npu(artifacts: NetworkArtifacts, board: Board, outcome: Outcome | None, number: int) -> NpuSection | None:
    """Return the NPU section of a network, or None for a network without NPU.

    Args:
        number: Index of the network in the application.
    """
    if not artifacts.uses_npu:
        return None
    ran = outcome.networks[number].npu_epochs if outcome and number < len(outcome.networks) else ()
    figures = artifacts.source.with_name(f"{artifacts.name}_npu.json")
    # Only blobs of backend neural_art have grades.
    grades = read_grades(figures) if is_file(figures) else ()
    epochs = _with_grades(hardware_epochs(ran, artifacts), grades)
    try:
        return NpuSection(npu_use(artifacts.source, board.soc.npu), epochs, grades=grades)
    except N6Error as error:
        # A blob with unknown content may run on a real board, so the report does not fail.
        return NpuSection(None, epochs, f"{error.where}: {error.what}", grades)


def _with_grades(epochs: Sequence[HardwareEpoch], grades: Sequence[EpochGrade]) -> tuple[HardwareEpoch, ...]:
    """Return the epochs with their grades after the operators."""
    graded = {each.number: each.grade for each in grades}
    return tuple(
        replace(each, operators=f"{each.operators}: {graded[each.number]}") if each.number in graded else each
        for each in epochs
    )


def _run_section(outcome: Outcome) -> RunSection:
    return RunSection(outcome.watched.sentence if outcome.watched else "", outcome.findings, outcome.registers)
