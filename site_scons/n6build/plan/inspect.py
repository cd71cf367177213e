"""`scons plan` and option explain: what the console and files get to see of a plan."""

from __future__ import annotations

import os
from collections.abc import Sequence

from n6build.console import say
from n6build.errors import N6Error, did_you_mean
from n6build.files import to_json, write_atomically
from n6build.plan.explain import explanation, statuses
from n6build.plan.perform import Site
from n6build.plan.plan import Plan, make_plan, plan_json


def show_plan(plan: Plan, goals: Sequence[str], site: Site, *, verbose: bool) -> None:
    """Of the steps that these goals need; plan.json and plan.svg go to the build folder."""
    wanted = make_plan(plan.behind(_files_of(plan, goals)), plan.goals)
    found = statuses(wanted, site.ledger, site.code, str(site.top))
    for status in found:
        say(status.state, status.step.name, "; ".join(status.reasons))
    write_atomically(site.build / "plan.json", to_json(plan_json(wanted)))


def _files_of(plan: Plan, goals: Sequence[str]) -> list[str]:
    return [file for goal in goals for file in plan.goals.get(goal, (goal,))]


def explain(file: str, plan: Plan, site: Site) -> None:
    """Raises N6-STEP-014 for a file that no step of the plan makes."""
    name = os.path.relpath(file) if os.path.isabs(file) else os.path.normpath(file)  # noqa: PTH117
    step = plan.makers.get(name)
    if step is None:
        what = f"no step of this build makes {name}"
        raise N6Error("N6-STEP-014", what, hint=f"{did_you_mean(name, plan.makers)} (scons plan lists them)")
    found = {status.step.name: status for status in statuses(plan, site.ledger, site.code, str(site.top))}
    say("Explain", name)
    for line in explanation(found[step.name], site.ledger.entries.get(step.name)):
        print(f"            {line}")
