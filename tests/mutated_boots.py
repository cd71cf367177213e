"""Random damage to FSBL and Appli, for boots that may not end the emulator."""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, NorBoot, run_nor
from n6build.describe.hardware.board import Board

HEADER, PAYLOAD, CHECKSUM = 0x240, 0x400, 0x64
# An undamaged Appli has begun with its network by then.
LIMITS = Limits(3_000_000, 3_000_000)
_NOP, _RETURN, _LOOP, _UNDEFINED = 0xBF00, 0x4770, 0xE7FE, 0xDE00


def mutated(image: bytes, chance: random.Random) -> bytes:
    """Return an image with up to four damaged places and a right checksum."""
    changed = bytearray(image)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(PAYLOAD, len(image) - 4) & ~1
        kind = chance.randrange(5)
        if kind == 0:
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            changed[at : at + 2] = chance.choice((_NOP, _RETURN, _LOOP, _UNDEFINED)).to_bytes(2, "little")
        elif kind == 2:
            changed[at : at + 2] = chance.randbytes(2)
        elif kind == 3:
            changed[at : at + 4] = chance.choice((0, 0xFFFFFFFF, 0x34200000, 0x5802A000, 0xE000ED08)).to_bytes(
                4, "little"
            )
        else:
            other = chance.randrange(PAYLOAD, len(image) - 4) & ~1
            changed[at : at + 4] = image[other : other + 4]
    struct.pack_into("<I", changed, CHECKSUM, sum(changed[HEADER:]) & 0xFFFFFFFF)
    return bytes(changed)


@dataclass(frozen=True)
class Boots:
    """Outcome of many boots.

    Attributes:
        ends: Number of boots by their end.
        found: Number of boots with findings.
        crashes: Seed and error of each boot that ended the emulator or hung it.
    """

    ends: Counter[str]
    found: int
    crashes: tuple[tuple[int, str], ...]


def boot_mutated(folder: Path, nor: bytes, board: Board, seeds: range) -> Boots:
    """Boot a NOR with another damage for each seed.

    Args:
        folder: Folder for files.
        nor: Content of a NOR with FSBL and Appli; an erased end is left out.
        board: Board of the programs.
        seeds: A seed for each boot.
    """
    ends: Counter[str] = Counter()
    found = 0
    crashes = []
    used = len(nor.rstrip(b"\xff"))
    nor = nor[: 1 << (used - 1).bit_length()]
    for seed in seeds:
        path = folder / "mutated.bin"
        path.write_bytes(_damaged(nor, board, random.Random(seed)))
        try:
            result = run_nor(
                find_emulator(board.soc), NorBoot(path, board), programs=[], stop=lambda _: False, limits=LIMITS
            )
        except N6Error as error:
            crashes.append((seed, str(error)))
            continue
        ends[result.ended] += 1
        found += bool(result.findings)
    return Boots(ends, found, tuple(crashes))


def _damaged(nor: bytes, board: Board, chance: random.Random) -> bytes:
    """Return the NOR with a damaged FSBL, Appli, or both."""
    which = chance.choice(((True, False), (False, True), (True, True)))
    changed = bytearray(nor)
    for start, end in (part for part, wanted in zip(_images(nor, board), which, strict=True) if wanted):
        changed[start:end] = mutated(nor[start:end], chance)
    return bytes(changed)


def _images(nor: bytes, board: Board) -> Iterator[tuple[int, int]]:
    for slot in (board.slots.fsbl, board.slots.appli):
        start = slot.address - board.nor.base
        (length,) = struct.unpack_from("<I", nor, start + 0x6C)
        yield start, start + HEADER + length
