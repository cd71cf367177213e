"""The flash algorithm that debuggers run to program the NOR."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.paths import FIRMWARE
from n6build.board.flash.algorithm import PAGE, build_algorithm
from n6build.describe.hardware.boards import board_names, load_board


@pytest.mark.parametrize("name", board_names())
def test_each_board_has_one_that_fits_into_ram_that_is_on(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    found = build_algorithm(board, tmp_path)
    memory = next(each for each in board.soc.memories.values() if each.base <= found.load < each.end)
    assert memory.clock and memory.clock.on_after_reset
    assert max(found.buffers) + PAGE <= memory.end
    end = found.load + 0x20 + len(found.code)
    assert end <= found.stack_end < found.stack <= min(found.buffers)
    assert all(found.load < address < end and address & 1 for address in found.functions.values())
    assert len(found.functions) == 4


def test_it_is_the_same_wherever_it_is_compiled(tmp_path: Path) -> None:
    board = load_board("nucleo-n657")
    assert build_algorithm(board, tmp_path / "a") == build_algorithm(board, tmp_path / "b")


def test_a_source_that_does_not_compile_has_an_error_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    firmware = tmp_path / "firmware"
    shutil.copytree(FIRMWARE, firmware, ignore=shutil.ignore_patterns("third_party"))
    with (firmware / "trial/n6_nor_write.c").open("a") as file:
        file.write("int broken = ;\n")
    monkeypatch.setattr("n6build.board.flash.algorithm.FIRMWARE", firmware)
    with pytest.raises(N6Error) as caught:
        build_algorithm(load_board("nucleo-n657"), tmp_path / "build")
    assert caught.value.id == "N6-FLASH-030"
    assert "error" in caught.value.what
