"""SCons tool: env.N6Plan(choices, targets) -> the plan of an application; env.N6Show(plan, targets) shows it instead of building.

Targets that need a board are in the plan only if they are asked for: a missing board is reported before anything is built.

Construction variables: N6_CCFLAGS (further flags of the surrounding project, which may be those of an ST project), N6_EXPLAIN
(a file).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from n6build.base.environment import read_environment
from n6build.base.paths import ROOT
from n6build.flash.receipt import settled
from n6build.options.choices import Choices
from n6build.plan.ledger import FOLDER
from n6build.plan.plan import Plan
from n6build.plan.remember import remembered_plan
from n6scons import failing_build, in_top, reported
from SCons.Script import BUILD_TARGETS, GetOption

_PLANNER = "n6build.steps.application"
_ON_A_BOARD = frozenset({"flash", "flash-all", "flash-model", "run"})


def generate(env: Any) -> None:
    """Adds N6Plan and N6Show to the environment. SCons calls this for tools=['n6_application'], after n6."""
    env.SetDefault(N6_EXPLAIN="", N6_CCFLAGS=())
    env.AddMethod(in_top(_plan), "N6Plan")
    env.AddMethod(in_top(_show), "N6Show")


def exists(env: Any) -> bool:
    """Whether the tool can be used: always. SCons requires this function."""
    return True


def _plan(env: Any, choices: Choices, targets: Collection[str]) -> Plan:
    """choices: of N6Options, or made by another project. The plan is cached until something that it follows from changes."""
    site = env.N6Site()
    environment = read_environment()
    # A dry run writes nothing.
    notes = None if GetOption("no_exec") else site.build / FOLDER
    goals = sorted({*targets} - {"plan"})
    with reported(env):
        choices = replace(choices, build=env["N6_BUILD"], c_flags=(*choices.c_flags, *env["N6_CCFLAGS"]))
        programmer = _programmer(choices) if _ON_A_BOARD & {*goals} else ""
        key = [asdict(choices), goals, programmer, _texts(asdict(environment)), str(ROOT), str(site.top)]

        def make() -> Plan:
            from n6build.steps.application import application_plan

            return application_plan(choices, environment, goals, programmer, notes)

        plan = remembered_plan(key, site.build, site.code, _PLANNER, make, keep=notes is not None)
    return settled(plan)


def _texts(value: Any) -> Any:
    """Paths as text."""
    if isinstance(value, dict):
        return {name: _texts(each) for name, each in value.items()}
    return (
        [_texts(each) for each in value] if isinstance(value, tuple | list) else value if value is None else str(value)
    )


def _programmer(choices: Choices) -> str:
    """The programmer's name in steps; it is searched for while SConscript files are read."""
    if choices.probe == "virtual":
        return choices.probe
    from n6build.flash.choose import choose_programmer, name_of_programmer
    from n6build.hardware.boards import load_board

    return name_of_programmer(choose_programmer(choices.probe, load_board(choices.board), Path(choices.build)))


def _show(env: Any, plan: Plan, targets: Collection[str]) -> bool:
    """Whether target plan or option explain was asked for; the build then does only that."""
    if "plan" not in targets and not env["N6_EXPLAIN"]:
        return False
    from n6build.plan.inspect import explain, show_plan

    site = env.N6Site()

    def show(target: Any, source: Any, env: Any) -> None:
        with failing_build(None, site.build):
            if env["N6_EXPLAIN"]:
                explain(env["N6_EXPLAIN"], plan, site)
            else:
                goals = [name for name in targets if name != "plan"] or ["build"]
                show_plan(plan, goals, site, verbose=env["N6_VERBOSE"])

    env.AlwaysBuild(env.Alias("plan", [], env.Action(show, cmdstr=None)))
    BUILD_TARGETS[:] = ["plan"]
    return True
