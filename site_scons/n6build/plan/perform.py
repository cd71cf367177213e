"""Does one step, in the same way for SCons, for the executor in `local`, and for the command `python -m n6build step`.

What only a step that is done needs is imported then: a build with nothing to do comes by here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.plan.closure import Code
from n6build.plan.explain import changes_for, reasons_for
from n6build.plan.ledger import Entry, Ledger, digests, output_of
from n6build.plan.plan import Plan
from n6build.plan.signature import signed_parts
from n6build.plan.step import Step


@dataclass(frozen=True)
class DoneStep:
    """stage: such as network or compile. target: the first file that it made."""

    stage: str
    target: str
    seconds: float


@dataclass
class Site:
    """Where steps are done. top, build: folders of the project and of all that it builds, absolute; relative paths start at
    `top`, which is the working directory. environment: of commands. done, failed: by this process. entered: names of steps that
    others have done, which this process has found in the ledger or in a cache. plan: all steps. noticed: by the name of a step,
    what had happened to its outputs before it was done again. began: of the monotonic clock, in seconds. elsewhere: has a step
    done by another machine and returns whether it is; None: there is none. room: for steps that are done here, where more of
    them wait for other machines."""

    top: Path
    build: Path
    code: Code
    ledger: Ledger
    environment: Mapping[str, str]
    done: list[DoneStep] = field(default_factory=list)
    failed: list[DoneStep] = field(default_factory=list)
    entered: list[str] = field(default_factory=list)
    noticed: dict[str, list[str]] = field(default_factory=dict)
    plan: Plan = field(default_factory=lambda: Plan(()))
    began: float = field(default_factory=time.monotonic)
    elsewhere: Callable[[Step], bool] | None = None
    room: AbstractContextManager[object] = field(default_factory=nullcontext)


_site: Site | None = None


def current_site() -> Site | None:
    """The site of the latest step, None before the first: for a report about the build that it is part of."""
    return _site


def is_current(step: Step, site: Site) -> bool:
    """Whether the ledger says that doing the step, whose sources are as they will be, would make what is there. A step that is
    to run always is never current."""
    return not step.always and not any(reasons_for(step, site.ledger, signed_parts(step, site.code, str(site.top))))


def taken_over(step: Step, site: Site, headers: Callable[[], Iterable[str]]) -> bool:
    """Whether the step is current, perhaps since another executor has done it. headers: as for `perform`. Raises N6-STEP-012
    and -013 where that one read a header that this build would not see."""
    if not is_current(step, site):
        return False
    entry = site.ledger.entries[step.name]
    if step.depfile:
        from n6build.plan.depfile import check_headers  # noqa: PLC0415

        check_headers(step, [path for path, digest in entry.inputs.items() if digest], headers())
    if not entry.is_foreseen:
        site.ledger.write(replace(entry, is_foreseen=True))
    site.entered.append(step.name)
    return True


def perform(
    step: Step,
    site: Site,
    *,
    headers: Callable[[], Iterable[str]] | None = None,
    finish: Callable[[], None] = lambda: None,
) -> None:
    """headers: that the build found for a compilation beforehand; None if nothing looks for them. finish: called before the
    outputs are entered into the ledger.

    Raises N6-STEP-001, -002, -005, -007 and -010 to -013, and what the step's function raises. Nothing is entered into the
    ledger then.
    """
    global _site  # noqa: PLW0603 - one build a process
    _site = site
    parts = signed_parts(step, site.code, str(site.top))
    reasons = [*changes_for(step, site.ledger, parts), *site.noticed.get(step.name, ())] or ["it was asked for"]
    began = time.monotonic()
    try:
        is_elsewhere = site.elsewhere is not None and site.elsewhere(step)
        if not is_elsewhere:
            _do_here(step, site)
        _check_outputs(step)
        read = _read_by_compiler(step, headers)
        finish()
    except BaseException:
        # A failed command may leave incomplete outputs; a function writes them completely or not at all.
        for output in filter(None, (*step.outputs, step.depfile) if step.command else ()):
            Path(output).unlink(missing_ok=True)
        site.failed.append(DoneStep(step.stage, step.name, time.monotonic() - began))
        raise
    seconds = time.monotonic() - began
    site.done.append(DoneStep(step.stage, step.name, seconds))
    origin = "elsewhere" if is_elsewhere else "here"
    is_foreseen = headers is not None or not step.depfile
    _enter(step, site.ledger, Entry(step.name, parts, {}, {}, "; ".join(reasons), origin, seconds, is_foreseen), read)


def note_delivered(step: Step, site: Site, headers: Iterable[str]) -> None:
    """Enters a step into the ledger whose outputs, with the list of headers that it read, came from a cache. headers: that the
    build found for a compilation beforehand."""
    read = _read_by_compiler(step, None)
    parts = signed_parts(step, site.code, str(site.top))
    entry = Entry(
        step.name, parts, {}, {}, "a cache had it", "elsewhere", is_foreseen=_are_foreseen(step, read, headers)
    )
    _enter(step, site.ledger, entry, read)
    site.entered.append(step.name)


def _are_foreseen(step: Step, read: Iterable[str], known: Iterable[str]) -> bool:
    from n6build.plan.depfile import check_headers  # noqa: PLC0415

    try:
        check_headers(step, (*step.sources, *read) if step.depfile else (), known)
    except (N6Error, OSError):
        return False
    return True


def _do_here(step: Step, site: Site) -> None:
    from n6build.plan.call import call_function  # noqa: PLC0415
    from n6build.plan.command import run_command  # noqa: PLC0415

    with site.room:
        if step.command:
            run_command(step, site.environment)
        else:
            call_function(step, site.top, site.build)


def _check_outputs(step: Step) -> None:
    for output in step.outputs:
        if not os.path.isfile(output):
            what = f"step {step.name} succeeded, but did not make {output}"
            raise N6Error("N6-STEP-005", what, where=step.made_at or None)


def _read_by_compiler(step: Step, headers: Callable[[], Iterable[str]] | None) -> list[str]:
    if not step.depfile:
        return []
    from n6build.plan.depfile import check_headers, read_depfile  # noqa: PLC0415

    named = read_depfile(Path(step.depfile).read_bytes())
    if "-MD" in step.command:
        # The compiler's own headers, which are part of the toolchain, are listed, too.
        folders = tuple(f"{folder}/" for folder in step.include_folders)
        named = [path for path in named if not os.path.isabs(path) or path in step.sources or path.startswith(folders)]
    read = [os.path.normpath(path) for path in named]
    if headers is not None:
        check_headers(step, read, headers())
    return [path for path in read if path not in step.sources]


def _enter(step: Step, ledger: Ledger, entry: Entry, headers: Iterable[str]) -> None:
    """entry: without inputs and outputs."""
    from n6build.plan.includes import absent_headers  # noqa: PLC0415

    found = list(headers)
    absent = absent_headers((*step.sources, *found), step.include_folders) if step.depfile else []
    inputs = digests((*step.sources, *step.templates, *found, *absent))
    outputs = {}
    for output in step.outputs:
        try:
            outputs[output] = output_of(output)
        except OSError:
            continue
    ledger.write(replace(entry, inputs=inputs, outputs=outputs))
