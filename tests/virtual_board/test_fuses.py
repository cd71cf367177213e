"""Fuses of the virtual board, which a program can blow in a file only."""

from __future__ import annotations

from pathlib import Path

import pytest
from firmware_build import BOARD
from n6build.base.errors import N6Error
from n6build.board.virtual_board.fuses import FILE_BYTES, with_fuses
from n6build.board.virtual_board.run import NorBoot
from n6build.describe.hardware.boards import load_board

BOOT = NorBoot(Path("nor.bin"), BOARD)
DK = load_board("stm32n6570-dk").fuses


@pytest.mark.parametrize("name", ["dk", "stm32n6570-dk"])
def test_a_board_lends_the_fuses_of_its_factory(name: str) -> None:
    assert BOARD.fuses == ()
    assert with_fuses(BOOT, name).board.fuses == DK
    assert with_fuses(BOOT, str(Path("/somewhere") / name)).board.fuses == DK


def test_the_other_board_lends_its_own() -> None:
    boot = NorBoot(Path("nor.bin"), load_board("stm32n6570-dk"))
    assert with_fuses(boot, "nucleo").board.fuses == ()
    assert with_fuses(boot, "") == boot


def test_a_file_is_created_by_the_first_blown_fuse_and_then_kept(tmp_path: Path) -> None:
    file = tmp_path / "fuses.bin"
    assert with_fuses(BOOT, str(file)).fuses == file
    file.write_bytes(bytes(FILE_BYTES))
    assert with_fuses(BOOT, str(file)).fuses == file


def test_another_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "fuses.bin"
    file.write_bytes(b"short")
    for wrong in (file, tmp_path, tmp_path / "none" / "fuses.bin"):
        with pytest.raises(N6Error, match="N6-VB-011"):
            with_fuses(BOOT, str(wrong))
