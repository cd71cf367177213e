"""SCons tool n6_compile_commands: compile_commands.json of all plans.

env.N6CompileCommands() returns the target. Tool n6 loads this tool.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from n6_nodes import file_node
from n6build.base.console import line
from n6build.describe.targets import COMPILE_COMMANDS
from n6scons import failing_build, in_top
from SCons.Environment import Environment


def generate(env: Any) -> None:
    """Add N6CompileCommands to the environment.

    SCons calls this for tools=['n6_compile_commands'], after n6.
    """
    env.AddMethod(in_top(_compile_commands), "N6CompileCommands")


def exists(env: Any) -> bool:
    """Return True, since the tool can always be used; SCons requires this function."""
    return True


def _compile_commands(env: Any, others: Any = ()) -> Any:
    """Return a target that writes compile_commands.json for the steps of all plans.

    Args:
        others: Such files of the host project, as its own CompilationDatabase() makes them under
            another name; their entries
            are added.
    """
    site = env.N6Site()

    def write(target: Any, source: Any, env: Any) -> None:
        from n6build.engine.compile_commands import write_compile_commands

        with failing_build(target[0], site.build):
            files = [Path(node.get_abspath()) for node in source]
            write_compile_commands(Path(target[0].get_abspath()), site.plan, site.top, files)

    def text(target: Any, source: Any, env: Any) -> str:
        return line("Commands", COMPILE_COMMANDS)

    own = Environment(tools=[])
    made = own.Command(file_node(own, COMPILE_COMMANDS), others, own.Action(write, text))
    own.Precious(made)
    return own.AlwaysBuild(made)
