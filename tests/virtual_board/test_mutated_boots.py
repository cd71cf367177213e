"""No program ends the emulator, whatever it does."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from firmware_build import BOARD, build_appli, build_fsbl, image_of
from mutated_boots import boot_mutated, mutated
from n6build.base.paths import FIRMWARE
from n6build.describe.formats.boot_header import BinaryType

from virtual_board.small_programs import PROGRAMS

# tools/bench.py mutated-boots makes a thousand.
FEW, MORE = range(4), range(4, 60)


@pytest.fixture(scope="module")
def nor(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a NOR with n6build's FSBL and a small Appli."""
    folder = tmp_path_factory.mktemp("mutated")
    fsbl = image_of(build_fsbl(folder / "fsbl", FIRMWARE / "fsbl" / "main.c"), BinaryType.FSBL)
    appli = image_of(build_appli(folder / "appli", PROGRAMS / "says_hello.c", ["-DDOES=NOTHING"]), BinaryType.SSBL)
    content = bytearray(b"\xff") * (4 << 20)
    for address, image in ((BOARD.slots.fsbl.address, fsbl), (BOARD.slots.appli.address, appli)):
        start = address - BOARD.nor.base
        content[start : start + len(image)] = image
    return bytes(content)


@pytest.mark.parametrize("seeds", [FEW, pytest.param(MORE, marks=pytest.mark.slow)], ids=["few", "more"])
def test_damaged_firmware_does_not_end_the_emulator(tmp_path: Path, nor: bytes, seeds: range) -> None:
    result = boot_mutated(tmp_path, nor, BOARD, seeds)
    assert result.crashes == ()
    assert sum(result.ends.values()) == len(seeds)


def test_each_seed_is_another_damage_with_a_right_checksum() -> None:
    image = bytes(range(256)) * 16
    damaged = [mutated(image, random.Random(seed)) for seed in range(20)]
    assert len(set(damaged)) > 15
    assert all(each[0x68:0x400] == image[0x68:0x400] for each in damaged)
    assert all(int.from_bytes(each[0x64:0x68], "little") == sum(each[0x240:]) for each in damaged)
