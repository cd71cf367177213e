"""The command `n6build survey`: a row for each network and program of a folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.console import only_errors, say
from n6build.base.size_text import counted
from n6build.cli.arguments import CommandParser, add_output, options_in

if TYPE_CHECKING:
    from n6build.describe.option import PlacedFile

HELP = (
    "finds all compiled networks and all FSBLs and Applis in a folder, and reports whether the virtual board models "
    "them, and how they run"
)
_OPTIONS = ("board", "core", "cmsis", "data")
# It has all memories that networks are compiled for.
_BOARD = "stm32n6570-dk"
_MOST_SECONDS = 86_400


def survey(words: Sequence[str]) -> None:
    """Print the tables of a folder.

    Args:
        words: Words behind the command.

    Raises:
        N6Error: N6-OPTION-001 or N6-OPTION-019 for invalid words; N6-BOARD-001 for an unknown
            board; N6-FILE-002 for a path that is no folder; N6-FILE-007 for too many files.
    """
    from n6build.cli.json_output import print_json
    from n6build.describe.hardware.boards import home_of_board, load_board
    from n6build.survey.kinds import Wishes
    from n6build.survey.survey import KINDS, counts_text, rows_of, show_head, show_row, tree_of

    asked = survey_parser().parse_intermixed_args(words)
    given = options_in(asked.options, _OPTIONS)
    board = given.get("board", _BOARD)
    found = {}
    with only_errors(asked.quiet or asked.json):
        wishes = Wishes(
            board=load_board(board, home_of_board(board)),
            cores=tuple(tree_of(Path(each)) for each in given.get("core", "").split(",") if each),
            cmsis=given.get("cmsis", ""),
            data=_placed(given.get("data", "")),
            runs=asked.run or asked.epochs,
            epochs=asked.epochs,
            seconds=asked.seconds,
        )
        tree = tree_of(Path(asked.folder))
        for kind in [each for each in KINDS if wishes.runs or not each.only_runs]:
            show_head(kind)
            rows = rows_of(kind, tree, wishes, show_row)
            found[kind.name] = [row.facts for row in rows]
            say("Surveyed", counted(len(rows), kind.name.removesuffix("s")), counts_text(kind, rows))
        for path, why in tree.unreadable:
            say("Left out", str(path), why)
        for path in tree.links:
            say("Left out", str(path), "a link to a folder")
    if asked.json:
        left_out = [str(path) for path, _ in tree.unreadable] + [str(path) for path in tree.links]
        print_json({**found, "left_out": left_out})


def _placed(text: str) -> tuple[PlacedFile, ...]:
    """Return the files of option data, as a build reads it."""
    from n6build.describe.choices import Choices
    from n6build.describe.option import PlacedFile, Setting, options_of

    option = next(each for each in options_of(Choices) if each.name == "data")
    files = option.parse(Setting(text, "command line", "data"), Path())
    assert isinstance(files, tuple)
    return tuple(each for each in files if isinstance(each, PlacedFile))


def survey_parser() -> CommandParser:
    """Return the parser of the words behind `n6build survey`."""
    parser = CommandParser(prog="n6build survey", description=f"{HELP[0].upper()}{HELP[1:]}.", allow_abbrev=False)
    parser.add_argument("folder", metavar="FOLDER", help="folder in any layout, for example a clone of a repository")
    parser.add_argument(
        "options",
        nargs="*",
        metavar="OPTION=VALUE",
        help=f"board=NAME of times and runs, default {_BOARD}; for runs core=FOLDER,FOLDER with ST's runtimes, and "
        "cmsis=FOLDER, what is not given is searched in FOLDER; data=FILE@ADDRESS,FILE.hex for the NOR of each start",
    )
    parser.add_argument(
        "--run",
        action="store_true",
        help="also runs each network that has its weights, and starts each FSBL with each Appli",
    )
    parser.add_argument("--epochs", action="store_true", help="as --run, and compares each buffer with the model's")
    parser.add_argument(
        "--seconds", metavar="N", type=_seconds, default=600, help="longest duration of one run; default: 600"
    )
    add_output(parser)
    return parser


def _seconds(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= _MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds from 1 to {_MOST_SECONDS}")
    return int(text)
