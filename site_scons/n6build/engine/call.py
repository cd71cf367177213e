"""Calls of the functions of steps, which may use only files that a step declares."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.paths import project_path
from n6build.engine.step import Call, Step
from n6build.engine.watch import watched


def call_function(step: Step, top: Path, build: Path) -> list[str]:
    """Call the function of a step.

    Args:
        step: The step.
        top: Folder of the project, absolute; the working directory.
        build: Folder of all build products, absolute.

    Returns:
        Files that the function has read but the step does not declare, as steps name them: only a
        step with folders of headers
        may do that.

    Raises:
        N6Error: N6-STEP-001 for another undeclared file that was read; N6-STEP-002 for one that was
            written; N6-STEP-007 if
            there is no such function; errors of the function.
    """
    module, _, name = step.function.partition(":")
    function = _function(step, module, name)
    call = Call(
        tuple(map(Path, step.outputs)),
        tuple(map(Path, step.sources)),
        step.parameters,
        Path(os.path.relpath(build, top)),
    )
    with watched(step, top, build) as used:
        function(call)
    if not step.include_folders:
        return []
    declared = {*step.sources, *step.templates, *step.outputs}
    read = (project_path(use.path) for use in used.lines if use.kind == "content")
    return sorted(path for path in read if path not in declared)


def _function(step: Step, module: str, name: str) -> Callable[[Call], None]:
    found = getattr(importlib.import_module(module), name, None)
    if (
        not callable(found)
        or getattr(found, "__module__", None) != module
        or getattr(found, "__qualname__", "") != name
    ):
        what = f"step {step.name}: '{step.function}' is not a function of its module"
        raise N6Error(
            "N6-STEP-007", what, where=step.made_at or None, hint="define it there with def, at the top level"
        )
    return found  # type: ignore[no-any-return]
