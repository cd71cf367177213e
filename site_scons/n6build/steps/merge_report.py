"""Step that reports the changes of a merge request in sizes and memory.

The report is Markdown for a comment, and JSON for the next report.
"""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.paths import project_path
from n6build.engine.step import Call, Step, to_parameters
from n6build.tell.figures import read_sizes
from n6build.tell.merge import check_base, write_merge_report


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


def perform_merge_report(call: Call) -> None:
    """Write merge_report.md and merge_report.json, and print the verdict."""
    given = call.parameters_as(MergeReportParameters)
    base = read_sizes(call.sources[1]) if given.base else None
    write_merge_report(call.outputs[0].parent, read_sizes(call.sources[0]), base)
