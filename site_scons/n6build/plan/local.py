"""Does the steps of a plan one behind the other, all of them: for command lines and tests. It keeps no track of what is up to
date; that is the work of SCons, or of whoever calls single steps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from n6build.paths import ROOT
from n6build.plan.closure import Code
from n6build.plan.ledger import Ledger, ledger_path
from n6build.plan.perform import Site, perform
from n6build.plan.plan import Plan, needs_of
from n6build.plan.step import Step


def library_code() -> Code:
    return Code({"n6build": ROOT / "site_scons" / "n6build"})


def local_site(build: Path, environment: Mapping[str, str]) -> Site:
    """In the working directory, with a ledger that begins anew."""
    return Site(Path.cwd(), build.absolute(), library_code(), Ledger(ledger_path(build)), environment)


def execute(
    plan: Plan,
    wanted: Iterable[str],
    site: Site,
    *,
    jobs: int | None = None,
    on_step: Callable[[Step], None] = lambda _: None,
) -> None:
    """Every step behind the outputs that are wanted. Raises the first N6Error; what was started by then is ended first."""
    steps = plan.behind(wanted)
    left = {step.name: _waits_for(step, plan) for step in steps}
    by_name = {step.name: step for step in steps}
    running: dict[Future[None], str] = {}
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:

        def start_ready() -> None:
            for name in [name for name, needs in left.items() if not needs]:
                del left[name]
                on_step(by_name[name])
                running[pool.submit(perform, by_name[name], site)] = name

        start_ready()
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                name = running.pop(future)
                future.result()
                for needs in left.values():
                    needs.discard(name)
            start_ready()


def _waits_for(step: Step, plan: Plan) -> set[str]:
    return {maker.name for file in needs_of(step) if (maker := plan.makers.get(file)) is not None}
