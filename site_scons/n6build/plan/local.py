"""Does the steps of a plan without SCons, those that are not up to date: for command lines and tests.

A plan in a file is a script: it names functions and commands to run. A file that is read here is checked for being a plan,
not for what its commands do.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypedDict

from n6build.base.bounded import parse_json
from n6build.base.environment import makeflags
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.plan.jobs import open_slots
from n6build.plan.known_code import keep_known_code, known_code
from n6build.plan.known_files import keep_known_files, remember_known_files
from n6build.plan.ledger import read_ledger
from n6build.plan.perform import Site, is_current, perform
from n6build.plan.plan import Plan, joined, needs_of, read_plan_json, step_for
from n6build.plan.step import Step

# A plan with three networks has 200 kB.
_LARGEST_PLAN = 16 << 20


class _ToolFile(TypedDict):
    name: str
    digest: str


class _StepFile(TypedDict, total=False):
    """Types of a step's fields in a file. `read_plan_json` checks their names."""

    verb: str
    stage: str
    outputs: list[str]
    sources: list[str]
    function: str
    command: list[str]
    parameters: Any
    templates: list[str]
    include_folders: list[str]
    depfile: str
    tools: list[_ToolFile]
    after: list[str]
    state: list[str]
    consulted: list[str]
    always: bool
    shared: bool
    quiet: bool


class _PlanFile(TypedDict):
    format: int
    goals: dict[str, list[str]]
    steps: list[_StepFile]


def local_site(build: Path, environment: Mapping[str, str]) -> Site:
    """A site in the working directory. build: folder of all build products. environment: of commands."""
    build = build.absolute()
    remember_known_files(build)
    return Site(Path.cwd(), build, known_code(build), read_ledger(build), environment)


def execute(plan: Plan, wanted: Iterable[str], site: Site, *, jobs: int | None = None) -> None:
    """Do every step behind the wanted outputs that is not up to date, each as soon as all it needs is there.

    Args:
        plan: The plan.
        wanted: Outputs of its steps.
        site: Where the steps are done.
        jobs: Steps at a time, None for as many as `open_slots` finds.

    Raises:
        N6Error: N6-STEP-014 before anything is done if no step makes a wanted file, and the first error of a step: running
            steps are finished, and no others are started.
    """
    wanted = tuple(wanted)
    for file in wanted:
        step_for(file, plan)
    site.plan = joined([site.plan, plan])
    steps = plan.behind(wanted)
    left = {step.name: _waits_for(step, plan) for step in steps}
    by_name = {step.name: step for step in steps}
    running: dict[Future[None], str] = {}
    stale: list[str] = []
    with open_slots(jobs, makeflags()) as slots, ThreadPoolExecutor(min(slots.limit, len(steps) or 1)) as pool:

        def is_there(name: str) -> None:
            for needs in left.values():
                needs.discard(name)

        def start_ready() -> None:
            # No more than can run: what waits in the pool would be started even after an error.
            while True:
                if not stale:
                    name = next((name for name, needs in left.items() if not needs), None)
                    if name is None:
                        return
                    del left[name]
                    if is_current(by_name[name], site):
                        is_there(name)
                        continue
                    stale.append(name)
                if not slots.acquire():
                    return
                name = stale.pop()
                running[pool.submit(perform, by_name[name], site)] = name

        start_ready()
        while running:
            done, _ = wait(running, slots.retry_s if stale else None, FIRST_COMPLETED)
            for future in [each for each in running if each in done]:
                name = running.pop(future)
                slots.release()
                future.result()
                is_there(name)
            start_ready()
    keep_known_code(site.code, site.build)
    keep_known_files(site.build)


def read_plan_file(path: Path) -> Plan:
    """path: a plan.json of `scons plan`. Raises N6-FILE-002 if it cannot be read, N6-FILE-003 if it is too large for a plan,
    N6-STEP-009 if it is not one, and N6-STEP-003 to -008 for steps that are not valid."""
    data = read_at_most(_regular(path), _LARGEST_PLAN)
    try:
        values: Any = parse_json(data)
        _check_types(values)
        plan = read_plan_json(values)
    except ValueError as error:
        raise _no_plan(str(error), path) from error
    except N6Error as error:
        # The code that made the steps is unknown: the file is named instead.
        raise N6Error(error.id, error.what, where=str(path), hint=error.hint) from error
    for step in plan.steps:
        for text in _texts(step):
            _check_text(text, step, path)
    return plan


def _regular(path: Path) -> Path:
    """Refuses pipes, which would block, and devices, which have no end. Raises N6-FILE-002."""
    try:
        if stat.S_ISREG(path.stat().st_mode):
            return path
        why = "it is not a file"
    except OSError as error:
        why = error.strerror or str(error)
    raise N6Error("N6-FILE-002", f"cannot read: {why}", where=str(path))


def _waits_for(step: Step, plan: Plan) -> set[str]:
    return {maker.name for file in needs_of(step) if (maker := plan.makers.get(file)) is not None}


def _check_types(values: Any) -> None:
    """Raises ValueError with the place of what is wrong."""
    import msgspec  # noqa: PLC0415 - SCons loads this module in every build, without reading such a file.

    try:
        msgspec.convert(values, _PlanFile)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
    for step in values["steps"]:
        module = str(step.get("function", "")).partition(":")[0]
        # Looking for a module imports the package that contains it.
        if module.partition(".")[0] in sys.stdlib_module_names:
            raise ValueError(f"'{step['function']}' is a function of Python itself, not of a step")


def _texts(step: Step) -> Iterator[str]:
    yield from (step.depfile, step.function)
    for texts in (step.outputs, step.sources, step.command, step.templates, step.include_folders, step.after):
        yield from texts


def _check_text(text: str, step: Step, path: Path) -> None:
    """Refuses text that the operating system does not accept."""
    try:
        ends = b"\0" in os.fsencode(text)
    except UnicodeEncodeError:
        ends = True
    if ends:
        raise _no_plan(f"step {step.name!a} contains {text!a}, which cannot be the name of a file or an argument", path)


def _no_plan(why: str, path: Path) -> N6Error:
    return N6Error("N6-STEP-009", f"is not a plan: {why}", where=str(path), hint="scons plan writes it again")
