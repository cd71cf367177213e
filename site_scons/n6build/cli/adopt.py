"""The command `n6build adopt`: adds n6build to a project as it is on the disk.

It reads the project and writes the lines that its build script needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.adopt.build_scripts import KINDS
from n6build.cli.arguments import CommandParser, options_in

HELP = "reads an existing STM32N6 project, lists its parts and the missing ones, and adds n6build to its build script"
_OPTIONS = ("board", "model", "appli")


def adopt(words: Sequence[str]) -> None:
    """Read a project, and add n6build to it.

    Args:
        words: Words behind the command.

    Raises:
        N6Error: N6-OPTION-001 or N6-OPTION-019 for invalid words; N6-BOARD-001 for an unknown
            board; errors of `adopt_project`.
    """
    from n6build.adopt.carry_out import Wishes, adopt_project
    from n6build.describe.hardware.boards import home_of_board, load_board

    asked = adopt_parser().parse_intermixed_args(words)
    given = options_in(asked.options, _OPTIONS)
    wishes = Wishes(
        board=load_board(given["board"], home_of_board(given["board"])).name if "board" in given else "",
        models=tuple(given["model"].split(",")) if given.get("model") else (),
        program=given.get("appli", ""),
        kind=asked.kind,
        only_print=asked.only_print,
        gcc=asked.gcc,
    )
    adopt_project(Path(asked.folder).absolute(), wishes)


def adopt_parser() -> CommandParser:
    """Return the parser of the words behind `n6build adopt`."""
    parser = CommandParser(prog="n6build adopt", description=f"{HELP[0].upper()}{HELP[1:]}.", allow_abbrev=False)
    parser.add_argument(
        "folder", metavar="FOLDER", help="folder of the project, for example the root of its repository"
    )
    parser.add_argument(
        "options",
        nargs="*",
        metavar="OPTION=VALUE",
        help="board=NAME and model=FILE replace the detected ones; appli=PROGRAM selects one of several programs of "
        "a script",
    )
    parser.add_argument("--print", dest="only_print", action="store_true", help="shows the lines, but writes no file")
    parser.add_argument("--for", dest="kind", choices=KINDS, help="the build system, if a program has several")
    parser.add_argument(
        "--gcc",
        metavar="FOLDER",
        help="folder inside the project, for example build/gcc, for a compiler that accepts the flags of ST's projects",
    )
    return parser
