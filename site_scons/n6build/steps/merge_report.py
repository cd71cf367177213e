"""Step that reports the changes of a merge request in sizes and memory.

The report is Markdown for a comment, and JSON for the next report.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.engine.step import Call, Step, to_parameters
from n6build.tell.figures import SizesFile, read_sizes, sizes_json
from n6build.tell.merge import compare, merge_report, verdict


@dataclass(frozen=True)
class MergeReportParameters:
    """Parameters of the step.

    Attributes:
        base: The second source is the base.
    """

    base: bool


def merge_report_step(folder: str, sizes: str, base: str) -> Step:
    """Return the step that writes the merge report.

    Args:
        folder: Folder of the report.
        sizes: Path of sizes.json of this build.
        base: Path of sizes.json of the base branch; empty if there is none.

    Raises:
        N6Error: N6-SIZES-003 if the base is a file of this build.
    """
    outputs = tuple(f"{folder}/merge_report.{suffix}" for suffix in ("md", "json"))
    check_base(base, (*outputs, sizes))
    return Step(
        verb="Compare",
        stage="report",
        outputs=outputs,
        sources=(sizes, *([project_path(base)] if base else [])),
        parameters=to_parameters(MergeReportParameters(bool(base))),
        function="n6build.steps.merge_report:perform_merge_report",
    )


def check_base(base: str, made: tuple[str, ...]) -> None:
    """Check that the base is not a file of this build.

    Args:
        base: Path of the base; empty if there is none.
        made: Files of this build.

    Raises:
        N6Error: N6-SIZES-003 if the base is one of them.
    """
    if base and Path(base).resolve() in {Path(file).resolve() for file in made}:
        what = "is an output of this build: the comparison would have no effect"
        hint = "copy the file of the base branch to another place, and set base=FILE"
        raise N6Error("N6-SIZES-003", what, where=project_path(base), hint=hint)


def perform_merge_report(call: Call) -> None:
    """Write merge_report.md and merge_report.json, and print the verdict."""
    given = call.parameters_as(MergeReportParameters)
    base = read_sizes(call.sources[1]) if given.base else None
    write_merge_report(call.outputs[0].parent, read_sizes(call.sources[0]), base)


def write_merge_report(folder: Path, now: SizesFile, base: SizesFile | None) -> None:
    """Write merge_report.md and merge_report.json to the folder; print the verdict."""
    markdown = folder / "merge_report.md"
    write_atomically(markdown, merge_report(now, base))
    write_atomically(markdown.with_suffix(".json"), sizes_json(now))
    say("Compared", verdict(compare(now, base), base), str(markdown))
