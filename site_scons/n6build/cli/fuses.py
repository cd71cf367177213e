"""The command `n6build fuses`: a rehearsal of a product's fuses."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from n6build.base.console import say
from n6build.cli.arguments import CommandParser
from n6build.describe.choices import Choices
from n6build.describe.formats.release import MOST_KEYS

HELP = "rehearses the fuses of a product, in a file of the virtual board; writes to no chip"


def fuses(words: Sequence[str]) -> None:
    """List the fuses that a product needs, and write them after a typed word.

    Args:
        words: Words behind the command.

    Raises:
        N6Error: N6-OPTION-019 for invalid words; N6-BOARD-001 for an unknown board; N6-TRUST-001 to N6-TRUST-003 and
            N6-TRUST-012 for an invalid key; N6-VB-011, N6-FUSE-001 or N6-FUSE-004 for an unsuitable file;
            N6-FUSE-003 for unsuitable keys; N6-FUSE-002 if the word was not typed.
    """
    from n6build.board.virtual_board import provision
    from n6build.describe.hardware.boards import home_of_board, load_board
    from n6build.place.image.rom_keys import read_rom_keys
    from n6build.place.trust.encryption import read_key

    asked = fuses_parser().parse_args(words)
    board = load_board(asked.board, home_of_board(asked.board))
    file = Path(asked.file)
    key = read_key(Path(asked.encrypt_key)) if asked.encrypt_key else b""
    rom_keys = read_rom_keys(Path(asked.rom_keys)) if asked.rom_keys else ()
    blows = provision.blows_of(board, asked.counter, asked.revoke, key, rom_keys, closes=asked.close)
    changes = provision.changes_of(file, board, blows)
    for change in changes:
        say("Blow", provision.text_of(change))
    if not changes:
        say("Fuses", f"{file}, nothing to write")
        return
    say("Inferred", "that a product may use these words: compare them with the reference manual of your chip")
    say("For ever", f"no bit of a chip goes back to 0. Type blow to write them to {file}, which is no chip")
    sys.stdout.flush()
    provision.check_typed(sys.stdin.readline(), changes, file)
    provision.write_fuses(file, board, changes)
    say("Fuses", f"{file}; start a board with them: scons probe=virtual fuses={file} run")


def fuses_parser() -> CommandParser:
    """Return the parser of the words behind `n6build fuses`."""
    parser = CommandParser(prog="n6build fuses", description=f"{HELP[0].upper()}{HELP[1:]}.", allow_abbrev=False)
    parser.add_argument("file", metavar="FILE", help="file of fuses, for option fuses; it is made or extended")
    parser.add_argument("--board", metavar="NAME", default=Choices.board, help=f"board; default: {Choices.board}")
    parser.add_argument(
        "--counter",
        metavar="N",
        type=int,
        choices=range(33),
        default=0,
        help="lowest trust_counter of a release that the board accepts, 0 to 32; default: 0",
    )
    parser.add_argument(
        "--revoke",
        metavar="KEY",
        type=int,
        choices=range(MOST_KEYS),
        action="append",
        default=[],
        help="number of a key in trust_keys whose releases the board rejects, 0 to 7; several times for several keys",
    )
    parser.add_argument("--encrypt-key", metavar="FILE", default="", help="key of encrypted images, as for encrypt_key")
    parser.add_argument(
        "--rom-keys",
        metavar="FOLDER",
        default="",
        help="folder of the eight keys for FSBLs, publicKey00.pem to publicKey07.pem",
    )
    parser.add_argument(
        "--close", action="store_true", help="close the chip: its boot ROM then starts signed FSBLs only"
    )
    return parser
