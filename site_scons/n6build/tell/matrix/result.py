"""Result of each pair of board and model, and its changes since the last time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.regular_file import content_of
from n6build.board.run.compare import Verdict
from n6build.board.run.session import Outcome, read_outcome
from n6build.engine.perform import DoneStep
from n6build.engine.plan import Plan
from n6build.judge.accuracy.figures import ACCURACY, Accuracy, read_accuracy
from n6build.judge.timing.timing_table import span_text
from n6build.place.memory_plan.plan import read_plan

Built = Literal["built", "cache", "up to date"]
# Limits for files from other machines: names go into messages and pages, figures are compared.
Name = Annotated[str, Meta(pattern=r"^[\w.+-]{1,200}\Z")]
Line = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f]{0,200}\Z")]
Count = Annotated[int, Meta(ge=0, le=1 << 53)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Percent = Annotated[float, Meta(ge=0, le=100)]
Decibels = Annotated[float, Meta(ge=-1000, le=1000)]


@dataclass(frozen=True)
class PairResult:
    """The result of a pair.

    Attributes:
        failure: reason of the failure, empty if the pair passed.
        seconds: time of the pair's own targets.
        appli_bytes, activation_bytes: sizes; 0 if the build did not get that far.
        instructions: instructions of the longest inference.
        equal: number of outputs that equal the reference.
        outputs: number of outputs.
        near: number of other outputs within the tolerance of their network.
        expected: expected time of the networks on the chip, as text; empty if none ran.
        accuracy: top-1 or mean IoU of the int8 file that n6build made, in percent; None without labels.
        agreement: share of samples or pixels with the class of the float model, in percent; None without classes.
        sqnr_db: decibels of its worst output; None if n6build made no int8 file.
    """

    board: Name
    model: Name
    failure: str
    built: Built
    seconds: Seconds
    appli_bytes: Count
    activation_bytes: Count
    instructions: Count
    equal: Count
    outputs: Count
    near: Count = 0
    expected: Line = ""
    accuracy: Percent | None = None
    agreement: Percent | None = None
    sqnr_db: Decibels | None = None

    @property
    def passed(self) -> bool:
        """Return whether no target failed."""
        return not self.failure


@dataclass(frozen=True)
class Row:
    """A row of the table. change: change since the last time, in words."""

    result: PairResult
    change: str


def pair_result(
    board: str,
    model: str,
    plan: Plan,
    run: str,
    done: Sequence[DoneStep],
    anew: Collection[str],
    failures: Sequence[tuple[str, str]] | None,
) -> PairResult:
    """Return the result of a pair.

    Args:
        board: name of the board.
        model: name of the model.
        plan: plan of the pair.
        run: run.json.
        done: steps of this build, of all pairs.
        anew: outputs of this pair that did not exist before, or are different.
        failures: failures of the build, as (file, reason); None if this pair was completed.
    """
    folder = str(Path(run).parent)
    own = _own_steps(plan, folder, model)
    outcome = _outcome(Path(run))
    verdicts = _verdicts(outcome)
    figures = _figures(plan)
    return PairResult(
        board=board,
        model=model,
        failure="" if failures is None else _failure(plan, own, failures),
        built=_built(own, done, _built_files(plan, folder, anew)),
        seconds=sum(step.seconds for step in done if step.target in own),
        appli_bytes=_size(Path(folder) / "appli_image.bin"),
        activation_bytes=_activations(Path(folder) / "memory_plan.json"),
        instructions=max((verdict.cycles or 0 for verdict in verdicts), default=0),
        equal=sum(verdict.equal is True for verdict in verdicts),
        outputs=sum(verdict.equal is not None for verdict in verdicts),
        expected=_expected(outcome),
        near=sum(verdict.passes is True and not verdict.equal for verdict in verdicts),
        accuracy=round(figures.shares[0][2], 2) if figures and figures.shares else None,
        agreement=round(figures.agreement[1], 2) if figures and figures.agreement else None,
        sqnr_db=figures.sqnr_db if figures else None,
    )


def _own_steps(plan: Plan, folder: str, model: str) -> set[str]:
    """Return the names of the pair's steps: those in its folder, and its receipts."""
    names = [step.name for step in plan.steps]
    return {name for name in names if name.startswith(f"{folder}/") or name.endswith(f"-{model}.json")}


def _verdicts(outcome: Outcome | None) -> list[Verdict]:
    """Return the verdicts on all inferences; none without a run."""
    return [verdict for network in outcome.networks for verdict in network.verdicts] if outcome else []


def _figures(plan: Plan) -> Accuracy | None:
    """Return the figures of the first int8 file that the plan makes; None without one."""
    files = (Path(output) for step in plan.steps for output in step.outputs if output.endswith(f"/{ACCURACY}"))
    file = next(files, None)
    return read_accuracy(file) if file and file.is_file() else None


def _expected(outcome: Outcome | None) -> str:
    times = [network.expected for network in outcome.networks if network.expected] if outcome else []
    if not times:
        return ""
    highs = [time.high for time in times if time.high is not None]
    return span_text(sum(time.low for time in times), sum(highs) if len(highs) == len(times) else None)


def _outcome(run: Path) -> Outcome | None:
    """Return the outcome of the run; None if no run of this version exists.

    A pair that fails leaves an old file, which another version of n6build may have written.
    """
    try:
        return read_outcome(run) if run.is_file() else None
    except N6Error:
        return None


def _built_files(plan: Plan, folder: str, anew: Collection[str]) -> set[str]:
    """Return the new files of a folder that the build itself has written."""
    ran = {output for step in plan.steps if step.stage in ("run", "flash") for output in step.outputs}
    return {path for path in anew if path.startswith(f"{folder}/")} - ran


def _built(own: Collection[str], done: Sequence[DoneStep], anew: Collection[str]) -> Built:
    """Return the origin of the files of a pair."""
    if any(step.target in own and step.stage not in ("run", "flash") for step in done):
        return "built"
    # New files without a step come from the cache.
    return "cache" if anew else "up to date"


def _failure(plan: Plan, own: Collection[str], failures: Sequence[tuple[str, str]]) -> str:
    """Return the first failure of the pair's own targets, else of shared targets."""
    made = {output: step.name for step in plan.steps for output in step.outputs}
    of_pair = [text for file, text in failures if made.get(file) in own]
    shared = [text for file, text in failures if file in made]
    return next(iter(of_pair or shared or [text for _, text in failures]), "was not built")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _activations(plan: Path) -> int:
    """Return the bytes of RAM: all pools except those read in place from flash.

    The result is 0 if there is no plan of this version.
    """
    try:
        planned = read_plan(plan)
    except N6Error:
        return 0
    flash = {image.pool for image in planned.images if image.in_place}
    return sum(pool.used for pool in planned.pools if pool.fname not in flash)


def rows_of(results: Sequence[PairResult], before: Sequence[PairResult]) -> list[Row]:
    """Return the results with their changes. before: last results, in any order."""
    known = {(each.board, each.model): each for each in before}
    return [Row(each, _change(each, known.get((each.board, each.model)))) for each in results]


def _change(now: PairResult, before: PairResult | None) -> str:
    if before is None:
        return "new"
    if now.passed != before.passed:
        return "fixed" if now.passed else "broken"
    if not now.passed:
        return "still failing"
    differences = [
        f"{after - earlier:+,} {what}"
        for what, after, earlier in (
            ("B", now.appli_bytes, before.appli_bytes),
            ("B RAM", now.activation_bytes, before.activation_bytes),
            ("instructions", now.instructions, before.instructions),
        )
        if after != earlier
    ]
    differences += [
        f"{after - earlier:+.1f} {what}"
        for what, after, earlier in (
            ("points of accuracy", now.accuracy, before.accuracy),
            ("dB", now.sqnr_db, before.sqnr_db),
        )
        if after is not None and earlier is not None and after != earlier
    ]
    return ", ".join(differences) or "the same"


def read_results(path: Path) -> list[PairResult]:
    """Return the last results; none if the file does not exist or cannot be read."""
    try:
        return decode_json(content_of(path), list[PairResult])
    except (OSError, ValueError):
        return []
