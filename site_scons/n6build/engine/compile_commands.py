"""The file compile_commands.json, for editors and analysers.

They read from it how each C file is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from n6build.base.bounded import parse_json
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most, to_json, write_atomically
from n6build.engine.plan import Plan

_LARGEST = 64 << 20


def compile_commands(plan: Plan, top: Path) -> list[Mapping[str, object]]:
    """Return an entry for each compilation of the plan.

    Args:
        plan: The plan.
        top: Folder in which the commands run, absolute.
    """
    return [
        {"directory": str(top), "file": step.sources[0], "output": step.name, "arguments": list(step.command)}
        for step in plan.steps
        if step.depfile and step.command
    ]


def write_compile_commands(path: Path, plan: Plan, top: Path, others: Iterable[Path] = ()) -> None:
    """Write the compilations of a plan.

    Args:
        path: The file.
        plan: The plan.
        top: Folder in which the commands run, absolute.
        others: Such files of the host project, whose entries come first.

    Raises:
        N6Error: N6-FILE-002 if one of them cannot be read; N6-FILE-003 if it is too large;
            N6-STEP-016 if it is not such a file.
    """
    found: list[object] = []
    for other in others:
        try:
            entries: Any = parse_json(read_at_most(other, _LARGEST))
        except ValueError as error:
            raise _not_one(other) from error
        if not isinstance(entries, list):
            raise _not_one(other)
        found += entries
    write_atomically(path, to_json([*found, *compile_commands(plan, top)]))


def _not_one(path: Path) -> N6Error:
    hint = "write the file with SCons' tool compilation_db: env.CompilationDatabase()"
    return N6Error("N6-STEP-016", "is not a list of compile commands", where=str(path), hint=hint)
