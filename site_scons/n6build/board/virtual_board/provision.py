"""Rehearsal of a product's fuses, in a file of the virtual board.

On a chip no bit goes back from 1 to 0, so each change is listed before it is made. Nothing here writes to a chip.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.size_text import counted
from n6build.board.virtual_board.fuses import FILE_BYTES, key_fuses, read_fuse_file
from n6build.describe.hardware.board import Board
from n6build.place.image.rom_keys import rom_key_digest

_WORDS = struct.Struct(f"<{FILE_BYTES // 4}I")
# ST's programmer writes files to fuses with the first byte in the highest bits; OEMuROT of STM32Cube N6 reads them so.
_DIGEST = struct.Struct(">8I")


@dataclass(frozen=True)
class Blow:
    """Bits of a fuse word to be set.

    Attributes:
        word: Number of the word.
        bits: Bits that will be 1.
        meaning: Meaning of these bits, for the user.
        secret: The bits are of a key, and are not shown.
    """

    word: int
    bits: int
    meaning: str
    secret: bool = False


@dataclass(frozen=True)
class Change:
    """A word before and after it is blown."""

    blow: Blow
    before: int

    @property
    def after(self) -> int:
        """Return the word after it is blown."""
        return self.before | self.blow.bits


def blows_of(
    board: Board,
    counter: int,
    revoked: Iterable[int],
    key: bytes,
    rom_keys: Sequence[bytes] = (),
    *,
    closes: bool = False,
) -> list[Blow]:
    """Return the fuses of a product.

    Args:
        board: Board of the product.
        counter: Lowest security counter of a release that the board accepts.
        revoked: Numbers of keys whose releases the board rejects.
        key: Key of encrypted images; empty for none.
        rom_keys: Public keys for FSBLs; none for an open board.
        closes: The boot ROM shall start signed FSBLs only.
    """
    soc = board.soc
    blows = [Blow(soc.security_counter, (1 << counter) - 1, f"rejects releases with a counter below {counter}")]
    blows += [Blow(soc.revoked_keys, 1 << number, f"rejects releases of key {number}") for number in revoked]
    for number, fuse in enumerate(key_fuses(board, key)):
        blows.append(Blow(fuse.word, fuse.value, f"key of encrypted images, word {number}", secret=True))
    if rom_keys:
        words = _DIGEST.unpack(rom_key_digest(rom_keys))
        blows += [
            Blow(soc.rom_fuses.key_digest + number, word, f"digest of the boot ROM's keys, word {number}")
            for number, word in enumerate(words)
        ]
    if closes:
        meaning = "closes the chip: its boot ROM starts signed FSBLs only, and its debug port stays closed"
        blows += [Blow(fuse.word, fuse.value, meaning) for fuse in soc.rom_fuses.closing]
    return [blow for blow in blows if blow.bits]


def changes_of(file: Path, board: Board, blows: Sequence[Blow]) -> list[Change]:
    """Return the words of a fuse file that change.

    Args:
        file: File of fuses; those of the board if it does not exist.
        board: Board whose fuses they are.
        blows: Fuses of the product.

    Raises:
        N6Error: N6-VB-011 if the file is not one of fuses; N6-FUSE-001 if a word that takes one programming has another
            value; N6-FUSE-004 if the chip would be closed without keys.
    """
    words = list(_words_of(file, board))
    changes = []
    for blow in blows:
        before = words[blow.word]
        if blow.word >= board.soc.bitwise_fuses and before not in (0, blow.bits):
            what = f"has another value in word {blow.word}, which takes one programming"
            raise N6Error("N6-FUSE-001", what, where=file.name, hint="name the key of this board, or a new file")
        words[blow.word] = before | blow.bits
        if words[blow.word] != before:
            changes.append(Change(blow, before))
    closes = any(change.blow.word == fuse.word for change in changes for fuse in board.soc.rom_fuses.closing)
    first = board.soc.rom_fuses.key_digest
    if closes and not any(words[first : first + _DIGEST.size // 4]):
        what = "has no keys of the boot ROM: a closed chip would start nothing, for ever"
        raise N6Error("N6-FUSE-004", what, where=file.name, hint="add --rom-keys FOLDER")
    return changes


def text_of(change: Change) -> str:
    """Return a line about a change, with the word before and after it."""
    if change.blow.secret:
        return f"word {change.blow.word}  0x00000000 -> a secret    {change.blow.meaning}"
    return f"word {change.blow.word}  0x{change.before:08x} -> 0x{change.after:08x}  {change.blow.meaning}"


def write_fuses(file: Path, board: Board, changes: Sequence[Change]) -> None:
    """Write the changed words to a fuse file, which only its owner can read.

    Raises:
        N6Error: N6-FILE-001 if the file cannot be written.
    """
    words = list(_words_of(file, board))
    for change in changes:
        words[change.blow.word] = change.after
    write_atomically(file, _WORDS.pack(*words))
    file.chmod(0o600)


def check_typed(typed: str, changes: Sequence[Change], file: Path) -> None:
    """Check the word that confirms the changes.

    Raises:
        N6Error: N6-FUSE-002 for another word than blow.
    """
    if typed.strip() != "blow":
        what = f"{counted(len(changes), 'fuse word')} not written: the word 'blow' was not typed"
        raise N6Error("N6-FUSE-002", what, where=file.name, hint="type blow, or pass it on the standard input")


def _words_of(file: Path, board: Board) -> tuple[int, ...]:
    found = read_fuse_file(file)
    if found is not None:
        return _WORDS.unpack(found)
    words = [0] * (FILE_BYTES // 4)
    for fuse in board.fuses:
        words[fuse.word] = fuse.value
    return tuple(words)
