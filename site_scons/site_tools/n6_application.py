"""SCons tool: env.N6Plan(choices, targets) -> the plan of an application; env.N6Show(plan, targets) shows it instead of building.

Targets that need a board are in the plan only if they are asked for: a missing board is reported before anything is built.

Construction variables: N6_CCFLAGS (further flags of the surrounding project, which may be those of an ST project), N6_EXPLAIN
(a file).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from n6build.options.choices import Choices
from n6build.plan.plan import Plan
from n6build.steps.planning import planned
from n6scons import failing_build, in_top, may_write, reported
from SCons.Script import BUILD_TARGETS


def generate(env: Any) -> None:
    """Adds N6Plan and N6Show to the environment. SCons calls this for tools=['n6_application'], after n6."""
    env.SetDefault(N6_EXPLAIN="", N6_CCFLAGS=())
    env.AddMethod(in_top(_plan), "N6Plan")
    env.AddMethod(in_top(_show), "N6Show")


def exists(env: Any) -> bool:
    """Whether the tool can be used: always. SCons requires this function."""
    return True


def _plan(env: Any, choices: Choices, targets: Collection[str], at: str | None = None) -> Plan:
    """choices: of N6Options, or made by another project, then at: file:line of its script. The plan is cached until something
    that it follows from changes."""
    with reported(env, at):
        choices = replace(choices, build=env["N6_BUILD"], c_flags=(*choices.c_flags, *env["N6_CCFLAGS"]))
        return planned(choices, targets, env.N6Site(), keep=may_write())


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
