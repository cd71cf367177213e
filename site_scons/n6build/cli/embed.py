"""The command `n6build embed`, for CMake: checks the options of a project.

It also writes the script with which the build of the project calls n6build.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from n6build.base.environment import option_values, project_folder, read_environment
from n6build.base.files import write_atomically
from n6build.cli.arguments import CommandParser
from n6build.cli.host_files import caller_script, check_folder, write_compilations
from n6build.describe.choices import choices_of
from n6build.describe.project_settings import resolve
from n6build.describe.targets import COMPILE_COMMANDS
from n6build.engine.known_files import keep_known_code
from n6build.engine.local import local_site
from n6build.engine.lock import locked_build_folder
from n6build.steps.planning import planned

HELP = "checks the options of a CMake project, and writes the script that calls n6build"
# The build has the same goals, and so finds the plan that is remembered here.
_GOALS = ("library", "build")


def embed(words: Sequence[str]) -> None:
    """Plan the networks and images of a host, and write the files for its build.

    Args:
        words: Words behind the command.

    Raises:
        N6Error: N6-EMBED-001 and -002 for invalid places; errors of options, and of networks that
            cannot be built.
    """
    asked = _parser().parse_intermixed_args(words)
    check_folder(asked.build)
    given = dict(word.partition("=")[::2] for word in asked.options)
    Path(asked.script).parent.mkdir(parents=True, exist_ok=True)
    write_atomically(Path(asked.script), caller_script(asked.command))
    project = project_folder()
    choices = replace(choices_of(resolve(given, option_values(), project), project.absolute()), build=asked.build)
    build = Path(asked.build)
    lock = locked_build_folder(build)
    site = local_site(build, dict(read_environment().commands))
    write_compilations(build, COMPILE_COMMANDS, planned(choices, _GOALS, site), site)
    keep_known_code(site.code, site.build)
    os.close(lock)


def _parser() -> CommandParser:
    parser = CommandParser(prog="n6build embed", description=f"{HELP}.", allow_abbrev=False)
    parser.add_argument("options", nargs="*", metavar="option=value")
    parser.add_argument(
        "--build", metavar="FOLDER", required=True, help="folder for the products of n6build, used by n6build only"
    )
    parser.add_argument("--script", metavar="FILE", required=True, help="script with which the build calls n6build")
    parser.add_argument("--command", metavar="FILE", default="n6build", help="how the build calls n6build")
    return parser
