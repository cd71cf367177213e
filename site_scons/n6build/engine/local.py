"""Plans carried out without SCons, for command lines and tests.

Steps that are up to date are not done.

Slots for steps that run at the same time. There is a fixed number of slots, or they are tokens of
the make or Ninja that started this build. A jobserver of GNU make holds one token for each job
beyond the first. A client takes a token before it starts a second job, and puts the same byte back
when a job ends (GNU make manual, "POSIX Jobserver Interaction").
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from n6build.base.environment import makeflags
from n6build.engine.known_files import keep_known_code, keep_known_files, known_code, remember_known_files
from n6build.engine.ledger import read_ledger
from n6build.engine.perform import Site, is_current, perform
from n6build.engine.plan import Plan, joined, needs_of, step_for
from n6build.engine.step import Step

_OPTIONS = ("--jobserver-auth=", "--jobserver-fds=")
_FIFO = "fifo:"
# A token may come back from another job without notice to this process.
_RETRY_S = 0.05


@dataclass
class Slots:
    """Slots for steps.

    The first one is always free, since the caller has a slot for this build itself.

    Attributes:
        limit: Most steps at a time.
        tokens: Descriptors to read tokens from and to write them to; None without a jobserver.
        retry_s: Seconds after which a step that got no slot tries again; None if only the end of a
            step frees one.
    """

    limit: int
    tokens: tuple[int, int] | None = None
    retry_s: float | None = None
    _used: int = 0
    _held: list[bytes] = field(default_factory=list)

    def acquire(self) -> bool:
        """Take a slot if one is free, without waiting."""
        if self._used >= self.limit:
            return False
        if self._used and self.tokens:
            token = _read(self.tokens[0])
            if not token:
                return False
            self._held.append(token)
        self._used += 1
        return True

    def release(self) -> None:
        """Give a slot back."""
        self._used -= 1
        if self._held and self.tokens:
            os.write(self.tokens[1], self._held.pop())

    def release_all(self) -> None:
        """Give back the slots that are still taken."""
        while self._used:
            self.release()


@contextmanager
def open_slots(jobs: int | None, makeflags: str = "") -> Iterator[Slots]:
    """Open the slots of a build, and give all of them back at its end.

    Args:
        jobs: Steps at a time that the caller asked for; None for the jobserver's number, or one for each CPU.
        makeflags: Variable MAKEFLAGS, in which make names its jobserver.
    """
    opened = None if jobs else _opened(makeflags)
    if opened is None:
        yield Slots(jobs or os.cpu_count() or 1)
        return
    slots = Slots(max(2, os.cpu_count() or 1) * 64, opened, _RETRY_S)
    try:
        yield slots
    finally:
        slots.release_all()
        for descriptor in opened:
            os.close(descriptor)


def _opened(makeflags: str) -> tuple[int, int] | None:
    """Open both ends of the jobserver; return None if this process may use none."""
    named = [word.partition("=")[2] for word in makeflags.split() if word.startswith(_OPTIONS)]
    if not named:
        return None
    try:
        if named[-1].startswith(_FIFO):
            return _pair(named[-1].removeprefix(_FIFO), named[-1].removeprefix(_FIFO))
        ends = [int(number) for number in named[-1].split(",")]
        # make closes its pipe for recipes without '+', so that a number may be that of another file by now.
        if len(ends) != 2 or min(ends) < 0 or not all(stat.S_ISFIFO(os.fstat(end).st_mode) for end in ends):
            return None
        # The pipe is shared with make. Opened as another file, it can be read without blocking.
        return _pair(*(f"/proc/self/fd/{end}" for end in ends))
    except (OSError, ValueError):
        return None


def _pair(read: str, write: str) -> tuple[int, int]:
    """Open a pipe for reading and for writing.

    Raises:
        OSError: The pipe cannot be opened.
        ValueError: The file is not a pipe.
    """
    reader = os.open(read, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISFIFO(os.fstat(reader).st_mode):
            raise ValueError("not a pipe")
        return reader, os.open(write, os.O_WRONLY | os.O_CLOEXEC)
    except BaseException:
        os.close(reader)
        raise


def _read(descriptor: int) -> bytes:
    """Read one token; the result is empty if there is none now, or if make has ended."""
    try:
        return os.read(descriptor, 1)
    except BlockingIOError:
        return b""


def local_site(build: Path, environment: Mapping[str, str], *, may_write: bool = True) -> Site:
    """Return a site in the working directory.

    Args:
        build: Folder of all build products.
        environment: Variables of commands.
        may_write: Whether this process holds the folder's lock.
    """
    build = build.absolute()
    remember_known_files(build)
    return Site(Path.cwd(), build, known_code(build), read_ledger(build, may_write=may_write), environment)


def execute(plan: Plan, wanted: Iterable[str], site: Site, *, jobs: int | None = None) -> None:
    """Do every step behind the wanted outputs that is not up to date.

    A step begins as soon as all that it needs exists.

    Args:
        plan: The plan.
        wanted: Outputs of its steps.
        site: Site where the steps are done.
        jobs: Steps at a time, None for as many as `open_slots` finds.

    Raises:
        N6Error: N6-STEP-014 before anything is done if no step makes a wanted file; otherwise the
            first error of a step. Then
            running steps are finished, and no others are started.
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
            # No more steps are submitted than can run: steps that wait in the pool would be started even after an error.
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


def _waits_for(step: Step, plan: Plan) -> set[str]:
    return {maker.name for file in needs_of(step) if (maker := plan.makers.get(file)) is not None}
