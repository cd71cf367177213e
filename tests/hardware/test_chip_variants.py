"""Another chip of the series is a file of about ten lines.

The chip of these tests is made up: it is no real STM32N645.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.paths import BOARDS
from n6build.compile.board_pools import pools_of
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.board_header import HEADERS
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.i2c import load_i2c_part
from n6build.describe.hardware.nor import load_nor_commands
from n6build.describe.hardware.program_places import appli_ram, program_script
from n6build.describe.hardware.psram import load_psram_commands
from n6build.describe.hardware.soc_header import HEADERS as SOC_HEADERS
from n6build.steps.board_files import board_files

N645 = """\
include: stm32n6.yaml
name: stm32n645
device_id: 0x499
memories:
  AXISRAM5: {size: 192K}
  AXISRAM6: ~
pools: {npuRAM6: ~}
load_and_run: {max_bytes: 768K}
profiles:
  extflash: {activations: [npuRAM3, npuRAM4, npuRAM5, cpuRAM2]}
"""


@pytest.fixture
def board(tmp_path: Path) -> Board:
    boards = Path(shutil.copytree(BOARDS, tmp_path / "boards"))
    (boards / "soc" / "stm32n645.yaml").write_text(N645)
    folder = Path(shutil.copytree(boards / "nucleo-n657", boards / "nucleo-n645"))
    text = (folder / "board.yaml").read_text().replace("soc: stm32n657", "soc: stm32n645")
    text = text.replace("name: nucleo-n657", "name: nucleo-n645").replace("[nucleo-n657x0-q]", "[]")
    (folder / "board.yaml").write_text(text)
    return load_board("nucleo-n645", boards)


def board_header(board: Board) -> str:
    """Return all generated text about the board for C."""
    return "".join(header.text(header.of(board)) for header in HEADERS)


def chip_header(board: Board) -> str:
    """Return all generated text about the board's chip for C."""
    return "".join(header.text(header.of(board.soc)) for header in SOC_HEADERS)


def test_its_header_differs_from_the_sibling_s_in_what_its_file_says(board: Board) -> None:
    sibling, own = (chip_header(each).splitlines() for each in (load_board("nucleo-n657"), board))
    assert {line for line in set(own) - set(sibling) if line.startswith("#define")} == {
        "#define N6_AXISRAM5_SIZE 0x00030000u",
        "#define N6_APPLI_LOAD_BYTES 0x000C0000u",
    }
    assert {line.split()[1] for line in set(sibling) - set(own) if line.startswith("#define")} == {
        "N6_AXISRAM5_SIZE",
        "N6_AXISRAM6_BASE",
        "N6_AXISRAM6_SIZE",
        "N6_APPLI_LOAD_BYTES",
    }
    assert '#define N6_BOARD_NAME "nucleo-n645"' in board_header(board)


def test_its_memories_bound_programs_and_pools(board: Board) -> None:
    assert f"LENGTH = 0x{(768 << 10) - 0x400:X}" in program_script(appli_ram(board.soc))
    sizes = {pool.name: pool.size for pool in pools_of(board, "extflash")}
    assert sizes["npuRAM5"] == 192 << 10
    assert "npuRAM6" not in sizes
    assert board.profiles() == ["extflash"]


def test_what_it_includes_is_a_source_of_its_steps(board: Board) -> None:
    names = ("stm32n645", "stm32n6", "stm32n6-devices", "stm32n6-camera", "stm32n6-blocks", "stm32n6-npu")
    of_chip = [f"{name}.yaml" for name in names]
    assert [path.name for path in board.soc_files] == of_chip
    assert [Path(path).name for path in board_files(board)] == [
        "board.yaml",
        *of_chip,
        "macronix-octal.yaml",
        "imx335.yaml",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("memories: {AXISRAM2: {size: 2M}}", r"soc/stm32n6\.yaml:\d+: memories\.AXISRAM3: error N6-SOC-001"),
        ("memories: {AXISRAM2: {sise: 1M}}", r"soc/stm32n645\.yaml:4: memories\.AXISRAM2\.sise: error N6-YAML-003"),
        ("cache_line: ~", r"soc/stm32n645\.yaml:1: error N6-YAML-006: key 'cache_line' is missing"),
        ("name: stm32n646", r"soc/stm32n645\.yaml:4: name: error N6-YAML-005"),
    ],
)
def test_what_is_wrong_is_told_with_the_file_that_says_it(board: Board, line: str, message: str) -> None:
    boards = board.files[1].parent.parent
    board.files[1].write_text("\n".join([*N645.splitlines()[:3], line]) + "\n")
    with pytest.raises(N6Error, match=f"^boards/{message}"):
        load_board("nucleo-n645", boards)


def test_a_chip_has_the_name_of_its_file(board: Board) -> None:
    board.files[1].write_text(N645.replace("name: stm32n645", "name: stm32n655"))
    with pytest.raises(
        N6Error, match=r"stm32n645\.yaml:2: name: error N6-SOC-006: the name of the chip is 'stm32n655'"
    ):
        load_board("nucleo-n645", board.files[1].parent.parent)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "boot: {payload_offset: 0x200}",
            "boot.payload_offset: error N6-SOC-007: 0x200 is inside the boot header of 0x240 bytes",
        ),
        ("boot: {payload_offset: 0x600}", "boot.payload_offset: error N6-SOC-007: puts the vector table at 0x34180600"),
        ("load_and_run: {payload_offset: 0x600}", "load_and_run.payload_offset: error N6-SOC-007: puts .* 0x34000600"),
    ],
)
def test_a_program_that_could_not_begin_there_is_refused(board: Board, line: str, message: str) -> None:
    board.files[1].write_text("\n".join([*N645.splitlines()[:3], line]) + "\n")
    with pytest.raises(N6Error, match=rf"stm32n645\.yaml:4: {message}"):
        load_board("nucleo-n645", board.files[1].parent.parent)


NOR_LIES = [
    ("name: macronix-octal", "name: micron", "name: error N6-NOR-001: the name of the commands is 'micron'"),
    ("chosen: 20", "chosen: 19", "dummy.chosen: error N6-NOR-001: no value of the register gives 19 dummy cycles"),
    ("page: 256", "page: 192", "page: error N6-NOR-002: a page of 192 bytes"),
    ("0x88880000]", "0x88880000, 0]", "sfdp: error N6-NOR-002: basic_from_12 has 10 words, not 9"),
    (
        "[[0x06],",
        "[[1, 2, 3, 4, 5, 6, 7, 8],",
        "sfdp: error N6-NOR-002: a command of to_octal has 8 bytes, more than 7",
    ),
    ("[[0x06],", f"[{'[0x06], ' * 40}", "sfdp: error N6-NOR-002: a table has more than 64 words"),
    (
        "second_byte: inverse",
        "second_byte: invers",
        "second_byte: error N6-YAML-004: invalid value 'invers'\n  hint: did you mean 'inverse'",
    ),
]


def nor_file(board: Board) -> Path:
    (path,) = [path for path in board.files if path.parent.name == "nor"]
    return path


PSRAM_LIES = [
    ("name: apmemory-x16", "name: apmemory", "name: error N6-PSRAM-001: the name of the commands is 'apmemory'"),
    (
        "7], chosen: 7",
        "7], chosen: 8",
        "read_latency.chosen: error N6-PSRAM-001: no code of the register gives a latency of 8",
    ),
    (
        "6], chosen: 7, after_reset: 5",
        "6], chosen: 7, after_reset: 2",
        "write_latency.after_reset: error N6-PSRAM-001: no code",
    ),
    ("low_bit: 5", "low_bit: 6", "write_latency.low_bit: error N6-PSRAM-001: the codes do not fit into eight bits"),
    ("row: 2K", "row: 3K", "row: error N6-PSRAM-001: rows of 3072 bytes: must be a power of two"),
    ("mask: 0x07", "mask: 0x03", "density.sizes: error N6-PSRAM-001: 4 more sizes than codes in mask 0x03"),
]


I2C_LIES = [
    ("name: wm8904", "name: wm8", "name: error N6-BUS-001: the name of the part is 'wm8'"),
    (
        "number: 0x00",
        "number: 0x100",
        "registers.SW_RESET_AND_ID.number: error N6-BUS-001: number 0x100 of register SW_RESET_AND_ID does not fit into 1 bytes",
    ),
    ("value: 0x8904", "value: 0x18904", "registers.SW_RESET_AND_ID.value: error N6-BUS-001: value 0x18904"),
]


PART_LIES = [
    *(("nor/macronix-octal.yaml", load_nor_commands, *lie) for lie in NOR_LIES),
    *(("psram/apmemory-x16.yaml", load_psram_commands, *lie) for lie in PSRAM_LIES),
    *(("i2c/wm8904.yaml", load_i2c_part, *lie) for lie in I2C_LIES),
]


@pytest.mark.parametrize(("file", "load", "old", "new", "message"), PART_LIES)
def test_descriptions_of_parts_that_lie_are_refused(
    tmp_path: Path, file: str, load: Callable[[Path, str], object], old: str, new: str, message: str
) -> None:
    path = tmp_path / "boards" / file
    path.parent.mkdir(parents=True)
    text = (BOARDS / file).read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(N6Error, match=f"^boards/{re.escape(file)}:\\d+: {re.escape(message)}"):
        load(path, f"boards/{file}")


def test_what_the_firmware_writes_into_a_psram() -> None:
    """ST's board support package has these values.

    It writes 0x30 to register 0, 0x20 to register 4 and 0x40 to register 8.
    """
    board = load_board("stm32n6570-dk")
    header = board_header(replace(board, clock=board.at_clock("hsi")))
    for name, value in {
        "BYTES": "0x02000000u",
        "DEVSIZE": "24u",
        "FAST_PRESCALER": "0u",
        "FAST_REFRESH_CYCLES": "124u",
        "SLOW_PRESCALER": "1u",
        "SLOW_REFRESH_CYCLES": "60u",
        "ROW_BOUNDARY": "11u",
        "MEMORY_TYPE": "6u",
        "READ_LATENCY_VALUE": "0x30u",
        "WRITE_LATENCY_VALUE": "0x20u",
        "WIDTH_VALUE": "0x40u",
        "DENSITY": "0x7u",
        "CONTROL_PIN_MASK": "0x0000001Du",
        "DATA_PIN_MASK": "0x0000FFFFu",
    }.items():
        assert f"#define N6_PSRAM_{name} {value}\n" in header
    fast = board_header(board)
    assert (
        "#define N6_PSRAM_FAST_HZ 100000000u\n"
        "#define N6_PSRAM_FAST_PRESCALER 1u\n#define N6_PSRAM_FAST_REFRESH_CYCLES 196u\n" in fast
    )
    assert "N6_PSRAM" not in board_header(load_board("nucleo-n657"))


def test_a_nor_with_another_command_set_is_a_file_of_its_own(board: Board) -> None:
    """The command set is made up: the second byte repeats the opcode.

    The modes have other values, too.
    """
    boards = nor_file(board).parent.parent
    text = nor_file(board).read_text().replace("name: macronix-octal", "name: other").replace("inverse\n", "same\n")
    text = text.replace("read_dtr: 0xEE", "read_dtr: 0xFD").replace("opi_dtr: 2", "opi_dtr: 0xE7")
    (boards / "nor" / "other.yaml").write_text(text.replace("chosen: 20", "chosen: 16"))
    file = board.files[0]
    file.write_text(file.read_text().replace("commands: macronix-octal", "commands: other"))
    header = board_header(load_board("nucleo-n645", boards))
    for name, value in {
        "OCTAL(opcode)": "((opcode) << 8 | ((opcode) ^ 0x0u))",
        "OCTAL_READ": "0xFDFDu",
        "MODE_VALUE": "0xE7u",
        "DUMMY_VALUE": "0x2u",
        "DUMMY_CYCLES": "16u",
    }.items():
        assert f"#define N6_NOR_{name} {value}\n" in header
    file.write_text(file.read_text().replace("commands: other", "commands: othr"))
    with pytest.raises(N6Error, match=r"nor.commands: error N6-BOARD-013: .* 'othr'\n  hint: did you mean 'other'"):
        load_board("nucleo-n645", boards)
