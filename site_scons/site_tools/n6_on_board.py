"""SCons tool n6_on_board: targets that program and run a board.

env.N6Flash(application) and env.N6Run(application) are for projects that embed n6build. Tool n6
loads this tool.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from n6build.describe.choices import Choices
from n6build.describe.host_program import refuse_unnamed_target
from n6build.describe.option import Setting
from n6host import Application, place_of_call, planned_nodes
from n6scons import failing_build, in_top, reported
from SCons.Script import COMMAND_LINE_TARGETS, GetOption


def generate(env: Any) -> None:
    """Add N6Flash and N6Run to the environment.

    SCons calls this for tools=['n6_on_board'], after n6_application.
    """
    env.AddMethod(in_top(_flash), "N6Flash")
    env.AddMethod(in_top(_run), "N6Run")


def exists(env: Any) -> bool:
    """Return True, since the tool can always be used; SCons requires this function."""
    return True


def _flash(env: Any, application: Application, name: str = "flash") -> Any:
    """Return a target that programs the board.

    n6build looks for the board only if the command line names the target.

    Args:
        application: Return value of N6Appli or N6Image.
        name: Name of the target.
    """
    return _target(env, application.choices, name, ["flash"])


def _run(env: Any, application: Application, name: str = "run", until: str = "") -> Any:
    """Return a target that programs the board, starts it and watches its console.

    Args:
        application: Return value of N6Appli or N6Image.
        name: Name of the target.
        until: Event that ends the run, as in option until.
    """
    choices = application.choices
    if until and choices.until is None:
        at = place_of_call()
        from n6build.describe.until import parse_until

        with reported(env):
            choices = replace(choices, until=parse_until(Setting(until, at, "until")))
    return _target(env, choices, name, ["run"] if "no-flash" in choices.modes else ["flash", "run"])


def _target(env: Any, choices: Choices, name: str, goals: list[str]) -> Any:
    alias = name.replace("$", "$$")
    if name in COMMAND_LINE_TARGETS and not (GetOption("clean") or GetOption("help")):
        plan, nodes = planned_nodes(env, choices, goals)
        return env.Alias(alias, [nodes[file] for file in plan.goals[goals[-1]]])
    build = Path(env["N6_BUILD"])

    def refuse(target: Any, source: Any, env: Any) -> None:
        with failing_build(target[0], build):
            refuse_unnamed_target(name)

    return env.AlwaysBuild(env.Alias(alias, [], env.Action(refuse, cmdstr=None)))
