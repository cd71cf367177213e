"""A board with another, invented chip and another NOR.

Firmware, images and virtual board follow its description.
"""

from __future__ import annotations

import pytest
from n6build.board.virtual_board.build import build_emulator
from n6build.describe.hardware.boards import load_board

from end_to_end.conftest import Project

CHIP = """\
include: stm32n6.yaml
name: stm32n645
device_id: 0x499
memories:
  AXISRAM5: {size: 192K}
  AXISRAM6: ~
pools: {npuRAM6: ~}
boot: {payload_offset: 0x800}
load_and_run: {payload_offset: 0xC00, max_bytes: 768K}
profiles: {extflash: {activations: [npuRAM3, npuRAM4, npuRAM5, cpuRAM2]}}
"""
NOR = {
    "name: macronix-octal": "name: other",
    "second_byte: inverse": "second_byte: same",
    "memory_type: 1": "memory_type: 3",
    "read: 0x13": "read: 0x14",
    "read_dtr: 0xEE": "read_dtr: 0xFD",
    "write_register: 0x72": "write_register: 0x81",
    "read_register: 0x71": "read_register: 0x85",
    "register_dummy_cycles: 5": "register_dummy_cycles: 8",
    "{address: 0x000, spi: 0, opi_str: 1, opi_dtr: 2,": "{address: 0x100, spi: 0xFF, opi_str: 0xB7, opi_dtr: 0xE7,",
    "address: 0x300": "address: 0x200",
    "chosen: 20": "chosen: 16",
}


def with_other_hardware(project: Project) -> None:
    boards = project.root / "boards"
    (boards / "soc" / "stm32n645.yaml").write_text(CHIP)
    text = (boards / "nor" / "macronix-octal.yaml").read_text()
    for old, new in NOR.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    (boards / "nor" / "other.yaml").write_text(text)
    project.replace("boards/nucleo-n657/board.yaml", "soc: stm32n657", "soc: stm32n645")
    project.replace("boards/nucleo-n657/board.yaml", "commands: macronix-octal", "commands: other")


# In every run: tests/house/test_provoked.py (N6-VB-001),
# tests/command_line/test_wheel.py::test_without_the_virtual_board_only_what_needs_it_fails.
@pytest.mark.slow
def test_without_its_emulator_a_run_says_how_to_get_it(project: Project) -> None:
    with_other_hardware(project)
    project.replace("boards/soc/stm32n645.yaml", "0x499", "0x499\ncache_line: 32\ninterrupt_count: 199")
    result = project.scons("board=nucleo-n657", "model=keyword", "probe=virtual", "run").refused()
    assert "N6-VB-001: the virtual board was not built for stm32n645 in its present description" in result.output
    assert "hint: run make setup" in result.output


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["opi-dtr", "spi"])
def test_its_programs_start_and_compute(project: Project, mode: str) -> None:
    """The test is slow, because it builds the emulator of this chip once."""
    with_other_hardware(project)
    project.replace("boards/nucleo-n657/board.yaml", "mode: opi-dtr", f"mode: {mode}")
    board = load_board("nucleo-n657", project.root / "boards")
    build_emulator(board.soc)
    result = project.done("board=nucleo-n657", "model=keyword", "probe=virtual", "flash", "run")
    assert f"mode={mode}" in result.output
    assert "outputs equal the reference interpreter bit for bit" in result.output
    folder = project.root / "build/nucleo-n657"
    for name, offset in (("fsbl_image.bin", 0x800), ("keyword/appli_image.bin", 0xC00)):
        image = (folder / name).read_bytes()
        assert not any(image[0x240:offset])
        assert image[0x70:0x74] == image[offset + 4 : offset + 8], "the entry is the second vector"
