"""The engine, which decides whether a step is up to date, and does it.

SCons, the command line and the tests are its clients. A step comes from a cache, is done by a
worker, or is done here; the ledger then knows its inputs. Modules that only a step to be done needs
are imported late, since builds with nothing to do use this module, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base import uses
from n6build.base.errors import N6Error
from n6build.base.files import remove_unfinished
from n6build.base.regular_file import require_replaceable
from n6build.engine.closure import Code
from n6build.engine.explain import reasons_for
from n6build.engine.ledger import UNSTABLE, Entry, Ledger, Output, digests, output_of
from n6build.engine.plan import Plan
from n6build.engine.signature import signed_parts
from n6build.engine.step import Step

if TYPE_CHECKING:
    from n6build.engine.cache import Cache

# The clock of file systems, which is behind the usual one by up to a tick.
_CLOCK = getattr(time, "CLOCK_REALTIME_COARSE", None)


@dataclass(frozen=True)
class DoneStep:
    """A step that was done.

    Attributes:
        stage: Stage, such as network or compile.
        target: The first file that it made.
        seconds: Duration.
    """

    stage: str
    target: str
    seconds: float


@dataclass
class Site:
    """The place where steps are done.

    Attributes:
        top: Folder of the project, absolute: relative paths start there, and it is the working
            directory.
        build: Folder of all build products, absolute.
        code: Code of the library.
        ledger: Ledger of the build folder.
        environment: Variables of commands.
        done: Steps done by this process, or by workers for it.
        failed: Steps that this process tried to do.
        fetched: Names of steps that came from the cache.
        plan: Plan with all steps.
        began: Start of the build on the monotonic clock, in seconds.
        cache: Cache that a step is fetched from before it is done, and stored in afterwards.
        elsewhere: Function that has a step done by another machine and returns whether it is done;
            None without other machines.
        room: Context of a step that is done here, where more of them wait for other machines.
        announce: Function called before a step is done or after it was fetched, with a verb in the
            second case; by several
            threads.
    """

    top: Path
    build: Path
    code: Code
    ledger: Ledger
    environment: Mapping[str, str]
    done: list[DoneStep] = field(default_factory=list)
    failed: list[DoneStep] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    plan: Plan = field(default_factory=lambda: Plan(()))
    began: float = field(default_factory=time.monotonic)
    cache: Cache | None = None
    elsewhere: Callable[[Step], bool] | None = None
    room: AbstractContextManager[object] = field(default_factory=nullcontext)
    announce: Callable[[Step, str], None] = lambda _step, _verb: None


_site: Site | None = None


def current_site() -> Site | None:
    """Return the site of the latest step, None before the first.

    A report about the build that it is part of needs it.
    """
    return _site


def reasons_now(step: Step, site: Site) -> Iterator[str]:
    """Yield reasons to do the step now, the most informative first.

    There is none if the step is up to date.
    """
    yield from reasons_for(step, site.ledger, signed_parts(step, site.code, str(site.top)))
    if step.always:
        yield "it runs on every request"


def is_current(step: Step, site: Site) -> bool:
    """Return whether doing the step would make the same outputs again.

    The sources of the step have to be as they will be.
    """
    return not step.always and not any(reasons_now(step, site))


def perform(step: Step, site: Site) -> None:
    """Do one step, and enter it into the ledger.

    Old outputs are removed before it begins, and none but `Step.kept` is left if it fails. An output with the same
    bytes as before keeps its time of modification: build systems that compare times do nothing for
    it.

    Raises:
        N6Error: N6-STEP-001, -002, -005, -007, -010, -011 and -013; N6-FILE-001 if an old output
            cannot be removed; errors of
            the step's function. Nothing is entered into the ledger then.
    """
    global _site  # noqa: PLW0603 - one build a process
    _site = site
    parts = signed_parts(step, site.code, str(site.top))
    reasons = list(reasons_for(step, site.ledger, parts)) or ["it was requested"]
    declared = digests((*step.sources, *step.templates))
    began, clock = time.monotonic(), _file_clock()
    times = _times(step, site.ledger)
    _make_room(step)
    try:
        is_fetched = _is_fetched(step, site)
        origin = "elsewhere" if is_fetched or _is_done_elsewhere(step, site) else "here"
        read = _do_here(step, site) if origin == "here" else []
        _check_outputs(step)
        if step.depfile:
            from n6build.engine.depfile import check_embedded, headers_read  # noqa: PLC0415

            read = headers_read(step)
            check_embedded(step, (*step.sources, *read))
        inputs = {**_found(step, read, clock), **declared}
        outputs = {output: output_of(output) for output in step.outputs}
    except BaseException:
        for file in filter(os.path.isfile, {*_written(step)} - {*step.kept}):
            Path(file).unlink(missing_ok=True)
        site.failed.append(DoneStep(step.stage, step.name, time.monotonic() - began))
        raise
    seconds = time.monotonic() - began
    for output, (state, modified) in times.items():
        if state.digest == outputs[output].digest:
            os.utime(output, ns=(modified, modified))
            outputs[output] = Output(uses.state_of(output), state.digest)
    if is_fetched:
        site.fetched.append(step.name)
        site.announce(step, "Fetch")
        reasons, seconds = ["a cache had it"], 0.0
    else:
        site.done.append(DoneStep(step.stage, step.name, seconds))
    site.ledger.write(Entry(step.name, parts, inputs, outputs, "; ".join(reasons), origin, seconds))
    if site.cache is not None and not is_fetched and step.shared and not step.always:
        _keep(step, site, inputs)


def _file_clock() -> int:
    """Return the time in ns that a file would get if it was written now."""
    return time.time_ns() if _CLOCK is None else time.clock_gettime_ns(_CLOCK)


def _written(step: Step) -> tuple[str, ...]:
    return (*step.outputs, *([step.depfile] if step.depfile else []))


def _make_room(step: Step) -> None:
    """Remove the old outputs of a step, and make their folders.

    Raises:
        N6Error: N6-FILE-001 if that is not possible.
    """
    try:
        for file in map(Path, _written(step)):
            require_replaceable(file)
            file.unlink(missing_ok=True)
            file.parent.mkdir(parents=True, exist_ok=True)
            remove_unfinished(file)
    except OSError as error:
        raise N6Error("N6-FILE-001", f"cannot write: {error.strerror}", where=str(error.filename)) from error


def _times(step: Step, ledger: Ledger) -> dict[str, tuple[Output, int]]:
    """Return ledger entry and modification time in ns of each output left as it was."""
    entry, found = ledger.entries.get(step.name), {}
    for output in step.outputs if entry else ():
        known = entry.outputs.get(output) if entry else None
        with suppress(OSError):
            state = uses.state_of(output)
            if known is not None and state == known.state:
                found[output] = known, state[1]
    return found


def _is_fetched(step: Step, site: Site) -> bool:
    if site.cache is None or not step.shared or step.always:
        return False
    from n6build.engine.work import work_of  # noqa: PLC0415

    work = work_of(step, site)
    return work is not None and site.cache.fetch(work, site)


def _is_done_elsewhere(step: Step, site: Site) -> bool:
    site.announce(step, "")
    return site.elsewhere is not None and site.elsewhere(step)


def _do_here(step: Step, site: Site) -> list[str]:
    """Do a step here; return undeclared files that its function has read."""
    with site.room:
        if step.command:
            from n6build.engine.command import run_command  # noqa: PLC0415

            run_command(step, site.environment)
            return []
        from n6build.engine.call import call_function  # noqa: PLC0415

        return call_function(step, site.top, site.build)


def _check_outputs(step: Step) -> None:
    for output in step.outputs:
        if not os.path.isfile(output):
            what = f"step {step.name} succeeded, but did not make {output}"
            raise N6Error("N6-STEP-005", what, where=step.made_at or None)


def _found(step: Step, read: Iterable[str], clock: int) -> dict[str, str]:
    """Return the digests of undeclared files that were read, and of absent headers.

    Args:
        step: The step.
        read: Files that it has read.
        clock: Time of the file system when the step began; a header that is edited meanwhile is
            compiled again.
    """
    from n6build.engine.depfile import absent_headers  # noqa: PLC0415

    files = list(read)
    absent = absent_headers((*step.sources, *files), step.include_folders) if step.include_folders or files else []
    found = digests((*files, *absent))
    for path in files:
        with suppress(OSError):
            if max(uses.state_of(path)[1:3]) > clock:
                found[path] = UNSTABLE
    return found


def _keep(step: Step, site: Site, inputs: Mapping[str, str]) -> None:
    """Store the outputs of a step if its inputs are as they were when it began."""
    from n6build.engine.work import work_of  # noqa: PLC0415

    declared = {*step.sources, *step.templates}
    headers = {path: digest for path, digest in inputs.items() if path not in declared}
    work = work_of(step, site)
    is_stable = all(uses.digest_of(path) == inputs[path] for path in declared) and UNSTABLE not in headers.values()
    if site.cache is not None and work is not None and is_stable:
        site.cache.keep(work, site, headers)
