"""Target plan and option explain: views of a plan on the console and in files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from n6build.base.console import say, show
from n6build.base.files import to_json, write_atomically
from n6build.engine.explain import explanation, statuses
from n6build.engine.perform import Site
from n6build.engine.plan import Plan, plan_json, step_for
from n6build.engine.plan_text import explain_text, plan_text


def show_plan(plan: Plan, goals: Sequence[str], site: Site, *, verbose: bool) -> None:
    """Print the steps that these goals need, and write plan.json and plan.svg.

    The files are in the build folder. If the picture cannot be drawn, a line gives the reason, and an
    older one is removed.

    Raises:
        N6Error: N6-FILE-001 if a file cannot be written; N6-STEP-014 for a file that no step makes.
    """
    from n6build.engine.picture import NoPictureError, plan_svg  # noqa: PLC0415 - no build needs it.

    wanted = _wanted(plan, goals)
    found = statuses(wanted, site.ledger, site.code, str(site.top))
    show(plan_text(found, goals, verbose=verbose))
    write_plan(site.build / "plan.json", plan, goals)
    picture = site.build / "plan.svg"
    try:
        write_atomically(picture, plan_svg(wanted))
    except NoPictureError as reason:
        picture.unlink(missing_ok=True)
        say("Without", f"{picture.name}: {reason}")


def write_plan(path: Path, plan: Plan, goals: Sequence[str]) -> None:
    """Write the steps that these goals need, as JSON.

    Raises:
        N6Error: N6-FILE-001 if the file cannot be written; N6-STEP-014 for a file that no step
            makes.
    """
    wanted = _wanted(plan, goals)
    portable = replace(wanted, goals={name: wanted.goals[name] for name in goals if name in wanted.goals})
    write_atomically(path, to_json(plan_json(portable)))


def files_of(goals: Sequence[str], plan: Plan) -> list[str]:
    """Return the outputs behind names of goals, and files as the plan names them.

    Raises:
        N6Error: N6-STEP-014 for a file that no step makes.
    """
    return [file for goal in goals for file in plan.goals.get(goal) or step_for(goal, plan).outputs]


def are_up_to_date(goals: Sequence[str], plan: Plan, site: Site) -> bool:
    """Return whether a build of these goals would do nothing.

    Raises:
        N6Error: N6-STEP-014 for a file that no step of the plan makes.
    """
    found = statuses(_wanted(plan, goals), site.ledger, site.code, str(site.top))
    return all(status.state == "up to date" for status in found)


def _wanted(plan: Plan, goals: Sequence[str]) -> Plan:
    return Plan(plan.behind(files_of(goals, plan)), plan.goals)


def explain(file: str, plan: Plan, site: Site) -> None:
    """Print why the file was or will be made.

    Raises:
        N6Error: N6-STEP-014 for a file that no step of the plan makes.
    """
    step = step_for(file, plan)
    shown = os.path.relpath(file) if os.path.isabs(file) else os.path.normpath(file)
    found = {status.step.name: status for status in statuses(plan, site.ledger, site.code, str(site.top))}
    why = explanation(found[step.name], site.ledger.entries.get(step.name))
    show(explain_text(shown, why))
