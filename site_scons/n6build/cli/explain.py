"""The command `n6build explain`: the facts of a program file or a console log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from n6build.base.console import show_document
from n6build.cli.arguments import CommandParser
from n6build.cli.json_output import print_json
from n6build.describe.choices import Choices

HELP = (
    "explains a program file (header, entry, starter, place in flash) or the log of a board's console, and its faults"
)


def explain(words: Sequence[str]) -> None:
    """Print the explanation of each file.

    Args:
        words: Words behind the command.

    Raises:
        N6Error: N6-OPTION-019 for invalid words; N6-BOARD-001 for an unknown board; the errors of
            `explain_file`.
    """
    from n6build.describe.hardware.boards import home_of_board, load_board
    from n6build.tell.explain_file import explain_file, explained_text

    options = explain_parser().parse_args([_as_option(word) for word in words])
    board = load_board(options.board, home_of_board(options.board))
    found = {name: explain_file(Path(name), board) for name in options.files}
    if options.json:
        print_json(
            {name: [asdict(part) | {"facts": dict(part.facts)} for part in parts] for name, parts in found.items()}
        )
    else:
        show_document("\n".join(explained_text(name, parts) for name, parts in found.items()))


def _as_option(word: str) -> str:
    """Return board=NAME, as in a build, as the option of the parser."""
    return f"--{word}" if word.startswith("board=") else word


def explain_parser() -> CommandParser:
    """Return the parser of the words behind `n6build explain`."""
    parser = CommandParser(prog="n6build explain", description=f"{HELP}.", allow_abbrev=False)
    parser.add_argument("files", metavar="FILE", nargs="+", help="signed image, ELF, hex or bin file, or a log")
    parser.add_argument(
        "--board",
        metavar="NAME",
        default=Choices.board,
        help=f"board whose places count (also board=NAME); default: {Choices.board}",
    )
    parser.add_argument("--json", action="store_true", help="prints the explanation as JSON")
    return parser
