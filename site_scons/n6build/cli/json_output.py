"""Option --json: the tables of a command as one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from n6build.base.bounded import parse_json
from n6build.base.console import show_document
from n6build.base.files import read_bytes, to_json
from n6build.describe.targets import FLASHING, LADDER, TARGETS
from n6build.engine.inspect import files_of
from n6build.engine.plan import Plan

# Build products with the content of the table that a target prints, by the ends of their names.
_TABLES = {
    "build": ("/sizes.json", "/checks.json"),
    "image": ("/sizes.json",),
    "reloc": ("_reloc.json",),
    "check": ("/checks.json",),
    "run": ("/run.json", "/epochs.json", "/started.json", "/debugged.json"),
    "time": ("/time.json",),
    "report": ("/report.json",),
    "merge-report": ("/merge_report.json",),
}
# These targets leave a record in the folder of the boards instead, in a folder of this name.
_ON_BOARDS = {**dict.fromkeys((*FLASHING, "verify"), "flash"), LADDER: "ladder"}


def print_json(value: object) -> None:
    """Print a value as JSON, also inside `only_errors`."""
    show_document(to_json(value))


def json_of(goals: Sequence[str], plan: Plan) -> dict[str, dict[str, object]]:
    """Return the tables of targets that were built.

    Args:
        goals: Targets, and files: a JSON file is its own table.
        plan: Plan with these goals.

    Returns:
        For each goal, contents by the names of their files without the suffix.
    """
    return {goal: {PurePath(file).stem: _content(file) for file in _files(goal, plan)} for goal in goals}


def _files(goal: str, plan: Plan) -> list[str]:
    wanted = files_of([goal], plan)
    if goal not in TARGETS:
        return [file for file in wanted if file.endswith(".json")]
    folder = _ON_BOARDS.get(goal)
    if folder:
        return [file for file in wanted if PurePath(file).parent.name == folder]
    # The checks are behind a verdict, for example.
    behind = (output for step in plan.behind(wanted) for output in step.outputs)
    return [file for file in behind if file.endswith(_TABLES.get(goal, ()))]


def _content(file: str) -> object:
    return parse_json(read_bytes(Path(file)))
