"""Plans carried out without SCons, for command lines and tests.

Steps that are up to date are not done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from n6build.base.environment import makeflags
from n6build.engine.jobs import open_slots
from n6build.engine.known_code import keep_known_code, known_code
from n6build.engine.known_files import keep_known_files, remember_known_files
from n6build.engine.ledger import read_ledger
from n6build.engine.perform import Site, is_current, perform
from n6build.engine.plan import Plan, joined, needs_of, step_for
from n6build.engine.step import Step


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
