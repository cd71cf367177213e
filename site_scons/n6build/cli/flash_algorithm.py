"""The command `n6build flash-algorithm`: the NOR for other debuggers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.console import only_errors, say
from n6build.cli.arguments import CommandParser, add_build, add_quiet
from n6build.describe.choices import Choices

HELP = "exports a board's flash algorithm for pyOCD, probe-rs and debuggers that take FLM files"


def flash_algorithm(words: Sequence[str]) -> None:
    """Write the files of a board's flash algorithm, and print how to use each.

    Args:
        words: Words behind the command.

    Raises:
        N6Error: N6-OPTION-019 for invalid words; N6-BOARD-001 for an unknown board; N6-TOOL-001 without a compiler;
            N6-FILE-001 if a file cannot be written; N6-FLASH-030 if the algorithm cannot be compiled.
    """
    from n6build.board.flash.algorithm_files import write_algorithm
    from n6build.describe.hardware.boards import home_of_board, load_board

    asked = flash_algorithm_parser().parse_args(words)
    board = load_board(asked.board, home_of_board(asked.board))
    with only_errors(asked.quiet):
        files = write_algorithm(board, Path(asked.build) / "flash_algorithm" / board.name)
        window = f"0x{board.nor.base:08X}"
        say("pyOCD", f"pyocd load --target cortex_m --script {files.pyocd} --format bin IMAGE.bin@{window}")
        chip = f"--chip {board.soc.name.upper()} --chip-description-path {files.probe_rs}"
        say("probe-rs", f"probe-rs download {chip} --binary-format bin --base-address {window} IMAGE.bin")
        say("FLM", str(files.flm))
        say("Untried", "probe-rs; the FLM file with other debuggers than pyOCD")


def flash_algorithm_parser() -> CommandParser:
    """Return the parser of the words behind `n6build flash-algorithm`."""
    parser = CommandParser(
        prog="n6build flash-algorithm", description=f"{HELP[0].upper()}{HELP[1:]}.", allow_abbrev=False
    )
    parser.add_argument("--board", metavar="NAME", default=Choices.board, help=f"board; default: {Choices.board}")
    add_build(parser)
    add_quiet(parser)
    return parser
