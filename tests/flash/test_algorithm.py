"""The flash algorithm that debuggers run to program the NOR."""

from __future__ import annotations

import base64
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest
import yaml
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from n6build.base.errors import N6Error
from n6build.base.paths import FIRMWARE
from n6build.board.flash.algorithm import PAGE, SECTOR, build_algorithm
from n6build.board.flash.algorithm_files import write_algorithm
from n6build.cli.flash_algorithm import flash_algorithm
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
    assert len(found.functions) == 5


def test_it_is_the_same_wherever_it_is_compiled(tmp_path: Path) -> None:
    board = load_board("nucleo-n657")
    first, second = (build_algorithm(board, tmp_path / name) for name in "ab")
    assert first.file.read_bytes() == second.file.read_bytes()


def test_a_source_that_does_not_compile_has_an_error_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    firmware = tmp_path / "firmware"
    shutil.copytree(FIRMWARE, firmware, ignore=shutil.ignore_patterns("third_party"))
    with (firmware / "trial/n6_nor_write.c").open("a") as file:
        file.write("int broken = ;\n")
    monkeypatch.setattr("n6build.board.flash.algorithm.FIRMWARE", firmware)
    with pytest.raises(N6Error, match="N6-FLASH-030") as caught:
        build_algorithm(load_board("nucleo-n657"), tmp_path / "build")
    assert "error" in caught.value.what


@pytest.mark.parametrize("name", board_names())
def test_its_file_describes_the_nor_as_debuggers_expect_it(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    with write_algorithm(board, tmp_path).flm.open("rb") as stream:
        file = ELFFile(stream)
        code, device, symbols = (file.get_section_by_name(name) for name in ("PrgCode", "DevDscr", ".symtab"))
        assert code is not None
        assert device is not None
        assert isinstance(symbols, SymbolTableSection)
        assert code["sh_addr"] == 0
        found = struct.unpack_from("<H128sHLLLLBxxxLL", device.data())
        sectors = struct.unpack_from("<4L", device.data(), 160)
        assert symbols.get_symbol_by_name("FlashDevice")
        assert not file.get_section_by_name(".rel.PrgCode")
    assert found[1].rstrip(b"\0") == f"n6build {name}".encode()
    assert found[2:8] == (5, board.nor.base, board.nor.size, PAGE, 0, 0xFF)
    assert sectors == (SECTOR, 0, 0xFFFF_FFFF, 0xFFFF_FFFF)


class _Tagged(yaml.SafeLoader):
    """A loader that takes the tags of probe-rs for their values."""


_Tagged.add_multi_constructor("!", lambda loader, _, node: _value(loader, node))


def _value(loader: Any, node: yaml.Node) -> Any:
    return loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else loader.construct_mapping(node, True)


@pytest.mark.parametrize("name", board_names())
def test_probe_rs_gets_the_same_code_and_only_ram_that_is_on(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    built = build_algorithm(board, tmp_path / "built")
    told = yaml.load(write_algorithm(board, tmp_path).probe_rs.read_text(), _Tagged)
    (chip,), (algorithm,) = told["variants"], told["flash_algorithms"]
    assert base64.b64decode(algorithm["instructions"]) == built.code
    assert algorithm["load_address"] + algorithm["pc_init"] == built.functions["Init"]
    *memories, nor = chip["memory_map"]
    assert nor["range"] == {"start": board.nor.base, "end": board.nor.base + board.nor.size}
    assert any(each["range"]["start"] <= built.load < each["range"]["end"] for each in memories)
    assert {each["name"] for each in memories} == {"FLEXRAM", "AXISRAM1", "AXISRAM2"}


def test_the_command_names_what_was_not_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flash_algorithm(["--board", "nucleo-n657", "--build", str(tmp_path)])
    said = capsys.readouterr().out
    assert "nucleo-n657_pyocd.py --format bin IMAGE.bin@0x70000000" in said
    assert "Untried probe-rs" in said
    with pytest.raises(N6Error, match="N6-BOARD-001"):
        flash_algorithm(["--board", "nucleo"])
