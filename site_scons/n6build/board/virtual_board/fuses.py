"""Fuses of the virtual board, in a file or as a board leaves the factory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.board.virtual_board.run import NorBoot
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import board_names, load_board
from n6build.describe.hardware.fuse import Fuse
from n6build.place.trust.encryption import key_words

# Words of BSEC, of four bytes each.
FILE_BYTES = 4 * 384


def with_fuses(boot: NorBoot, wanted: str) -> NorBoot:
    """Return the boot with the wanted fuses.

    Args:
        boot: Boot with the board's own fuses.
        wanted: A file that keeps the fuses, which a first blown fuse creates; or a board, by its name, an
            alias, or a part of its name between hyphens; empty for the board's own.

    Raises:
        N6Error: N6-VB-011 if the file is not one of fuses, or its folder does not exist.
    """
    file = Path(wanted)
    if not wanted:
        return boot
    if not file.exists() and (named := _board_named(file.name)):
        return replace(boot, board=replace(boot.board, fuses=named.fuses))
    read_fuse_file(file)
    return replace(boot, fuses=file)


def read_fuse_file(file: Path) -> bytes | None:
    """Return the content of a file of fuses, or None if there is none yet.

    Raises:
        N6Error: N6-VB-011 if it is another file, or its folder does not exist.
    """
    if not file.exists() and file.parent.is_dir():
        return None
    if file.is_file() and file.stat().st_size == FILE_BYTES:
        return read_at_most(file, FILE_BYTES)
    what = "cannot be created: its folder does not exist"
    if file.exists():
        what = f"is not a file of fuses, which has {FILE_BYTES} bytes"
    hint = f"name a new file in an existing folder, or a board: {', '.join(board_names())}"
    raise N6Error("N6-VB-011", what, where=f"fuses={file.name}", hint=hint)


def with_key(boot: NorBoot, key: bytes) -> NorBoot:
    """Return the boot with a key for encrypted images in the fuses of its board."""
    return replace(boot, board=replace(boot.board, fuses=(*boot.board.fuses, *key_fuses(boot.board, key))))


def key_fuses(board: Board, key: bytes) -> list[Fuse]:
    """Return the fuses with a key for encrypted images."""
    return [Fuse(board.soc.encryption_key + number, word) for number, word in enumerate(key_words(key))]


def _board_named(word: str) -> Board | None:
    boards = [load_board(name) for name in board_names()]
    exact = [board for board in boards if word in (board.name, *board.aliases)]
    parts = exact or [board for board in boards if word in board.name.split("-")]
    return parts[0] if len(parts) == 1 else None
