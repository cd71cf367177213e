"""SCons tool n6_application: the plan of an application.

env.N6Plan(choices, targets) returns the plan; env.N6Show(plan, targets) shows it instead of
building. Targets that need a board are in the plan only if they are named: a missing board is
reported before anything is built.

Construction variables: N6_CCFLAGS (further flags of the host project, which may be those of an ST
project), N6_EXPLAIN (a file: the build only prints why it was or will be made).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from n6build.describe.choices import Choices
from n6build.engine.plan import Plan
from n6build.steps.planning import planned
from n6scons import failing_build, in_top, may_write, reported
from SCons.Script import BUILD_TARGETS


def generate(env: Any) -> None:
    """Add N6Plan and N6Show to the environment.

    SCons calls this for tools=['n6_application'], after n6.
    """
    env.SetDefault(N6_EXPLAIN="", N6_CCFLAGS=())
    env.AddMethod(in_top(_plan), "N6Plan")
    env.AddMethod(in_top(_show), "N6Show")


def exists(env: Any) -> bool:
    """Return True, since the tool can always be used; SCons requires this function."""
    return True


def _plan(env: Any, choices: Choices, targets: Collection[str], at: str | None = None) -> Plan:
    """Return the plan of an application.

    The plan is cached until something changes that it depends on.

    Args:
        choices: Choices of N6Options, or made by another project.
        targets: Names of targets.
        at: file:line of the other project's script, for errors.
    """
    with reported(env, at):
        choices = replace(choices, build=env["N6_BUILD"], c_flags=(*choices.c_flags, *env["N6_CCFLAGS"]))
        return planned(choices, targets, env.N6Site(), keep=may_write())


def _show(env: Any, plan: Plan, targets: Collection[str]) -> bool:
    """Show the plan for target plan or option explain; return whether it does so.

    The build then does nothing else.
    """
    if "plan" not in targets and not env["N6_EXPLAIN"]:
        return False
    from n6build.engine.inspect import show_plan
    from n6build.tell.explain_file import explain_product_or_file

    site = env.N6Site()

    def show(target: Any, source: Any, env: Any) -> None:
        with failing_build(None, site.build):
            if env["N6_EXPLAIN"]:
                explain_product_or_file(env["N6_EXPLAIN"], plan, site, env["N6_BOARD"])
            else:
                goals = [name for name in targets if name != "plan"] or ["build"]
                show_plan(plan, goals, site, verbose=env["N6_VERBOSE"])

    env.AlwaysBuild(env.Alias("plan", [], env.Action(show, cmdstr=None)))
    BUILD_TARGETS[:] = ["plan"]
    return True
