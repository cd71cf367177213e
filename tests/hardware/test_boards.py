"""A wrong board description is refused with file, line and key."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.paths import BOARDS
from n6build.describe.hardware.boards import board_names, load_board
from n6build.describe.hardware.fuse import Fuse


@pytest.fixture
def boards(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BOARDS, tmp_path / "boards"))


def edit(boards: Path, file: str, old: str, new: str) -> int:
    """Replace the only occurrence of `old`; return its line."""
    path = boards / file
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    path.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize("name", board_names())
def test_every_board_loads_and_offers_both_placements_of_weights(name: str) -> None:
    assert {"extflash", "noextmem"} <= set(load_board(name).profiles())


@pytest.mark.parametrize("alias", ["nucleo-n657x0-q", "NUCLEO-N657", "NUCLEO-N657X0-Q"])
def test_a_board_has_aliases_in_any_case(alias: str) -> None:
    assert load_board(alias).name == "nucleo-n657"


@pytest.mark.parametrize(("name", "clock_hz"), [("nucleo-n657", 50_000_000), ("stm32n6570-dk", 100_000_000)])
def test_the_nor_has_the_clock_that_its_board_allows(name: str, clock_hz: int) -> None:
    assert load_board(name).nor_clock_hz == clock_hz


def test_without_a_pll_the_nor_is_slower_than_its_limit(boards: Path) -> None:
    edit(boards, "nucleo-n657/board.yaml", "max_speed: nominal", "max_speed: nominal\nclock_profile: hsi-only")
    assert load_board("nucleo-n657", boards).nor_clock_hz == 32_000_000


@pytest.mark.parametrize("name", board_names())
def test_every_board_starts_with_what_it_is_rated_for(name: str) -> None:
    board = load_board(name)
    assert board.clock == board.max_speed
    # ST's getting-started projects start CPU and NPU at these clocks.
    assert (board.clock.cpu_hz, board.clock.npu_hz) in ((600_000_000, 800_000_000), (800_000_000, 1_000_000_000))


def test_the_nor_may_be_faster_only_with_the_fuse_of_its_pads() -> None:
    board = load_board("nucleo-n657")
    assert (board.nor.max_clock_hz, board.nor_clock_hz) == (100_000_000, board.soc.slow_pads_hz)
    blown = replace(board, fuses=(Fuse(124, 1 << 15),))
    assert blown.nor_clock_hz == 100_000_000
    # This fuse belongs to the other port.
    assert replace(board, fuses=(Fuse(124, 1 << 16),)).nor_clock_hz == 50_000_000
    kit = load_board("stm32n6570-dk")
    assert (kit.psram_clock_hz, replace(kit, fuses=()).psram_clock_hz) == (100_000_000, 50_000_000)


def test_a_clock_that_the_board_cannot_have_is_refused() -> None:
    board = load_board("openmv-n6")
    assert board.at_clock("hsi").cpu_hz == 64_000_000
    with pytest.raises(
        N6Error, match="N6-BOARD-003: 'clock=overdrive': it needs a raised core supply, but OpenMV N6"
    ) as found:
        board.at_clock("overdrive")
    assert found.value.hint == "choose one of: hsi, hsi-only, nominal, cube"
    with pytest.raises(
        N6Error, match="'clock=nomnal': stm32n657 has no such clock profile\n  hint: did you mean 'nominal'"
    ):
        board.at_clock("nomnal")


def test_a_nor_that_is_read_on_one_line_is_clocked_more_slowly() -> None:
    board = load_board("stm32n6570-dk")
    assert board.nor_clock_hz == 100_000_000
    one_line = replace(board, nor=replace(board.nor, mode="spi"))
    assert one_line.nor_clock_hz == board.nor_commands.read_max_hz == 50_000_000


def test_an_unknown_board_gets_the_nearest_name() -> None:
    with pytest.raises(N6Error, match="did you mean 'nucleo-n657'"):
        load_board("nuclo-n657")


LIES = [
    ("an unknown key", "console: {tx: PE5", "console: {txx: PE5", "console.txx: error N6-YAML-003: unknown key 'txx'"),
    ("a missing key", "title: NUCLEO-N657X0-Q\n", "", "key 'title' is missing"),
    (
        "a text for a number",
        "baud: 115_200",
        "baud: fast",
        "console.baud: error N6-YAML-004: 'fast' must be an integer",
    ),
    ("a baud rate of zero", "baud: 115_200", "baud: 0", "console.baud: error N6-YAML-004: 0 is outside"),
    ("a pin that is none", "tx: PE5", "tx: PZ5", "console.tx: error N6-BOARD-004: 'PZ5' is not a pin"),
    ("a mode that is none", "mode: opi-dtr", "mode: opi-dt", "did you mean 'opi-dtr'"),
    ("a clock beyond the chip", "max_clock_hz: 100_000_000", "max_clock_hz: 500_000_000", "nor.max_clock_hz"),
    ("an odd size of the NOR", "size: 64M\n", "size: 60M\n", "nor.size: error N6-BOARD-005"),
    ("a NOR larger than its window", "size: 64M\n", "size: 512M\n", "nor.size: error N6-BOARD-005"),
    ("a NOR that is smaller than its slots", "size: 64M\n", "size: 16M\n", "slots.weights: error N6-BOARD-006"),
    (
        "slots that overlap",
        "appli: {address: 0x70100000, size: 2M}",
        "appli: {address: 0x70100000, size: 15M}",
        "overlaps slot 'second appli' by 8388608 bytes",
    ),
    (
        "a second slot of the Appli on the journal",
        "appli: {address: 0x70800000, size: 2M}",
        "appli: {address: 0x70D00000, size: 2M}",
        "trial.appli: error N6-BOARD-007: slot 'second appli' overlaps slot 'journal' by 1048576 bytes",
    ),
    (
        "slots of the Appli that differ",
        "appli: {address: 0x70800000, size: 2M}",
        "appli: {address: 0x70800000, size: 1M}",
        "trial.appli: error N6-BOARD-006: has 1048576 bytes, but slot 'appli' has 2097152: both slots must have the "
        "same size",
    ),
    (
        "a journal of one sector",
        "journal: {address: 0x70E00000, size: 128K}",
        "journal: {address: 0x70E00000, size: 64K}",
        "trial.journal: error N6-BOARD-006: the journal of trials needs two sectors of 65536 bytes",
    ),
    (
        "a slot off the sectors",
        "fsbl: {address: 0x70000000, size: 512K}",
        "fsbl: {address: 0x70000000, size: 500K}",
        "slots.fsbl",
    ),
    (
        "an FSBL slot larger than the ROM loads",
        "size: 512K}",
        "size: 576K}",
        "65536 bytes larger than the boot ROM can load",
    ),
    ("a chip that is not described", "soc: stm32n657", "soc: stm32n6577", "did you mean 'stm32n657'"),
    ("a clock profile that is none", "max_speed: nominal", "max_speed: hse", "max_speed: error N6-BOARD-003"),
    (
        "a slower clock profile that is none",
        "max_speed: nominal",
        "max_speed: nominal\nclock_profile: hse",
        "clock_profile: error N6-BOARD-003",
    ),
    (
        "a clock that the supply is too low for",
        "smps_overdrive: PB12",
        "clock_profile: overdrive",
        "clock profile 'overdrive' needs a raised supply",
    ),
    ("a title that ends a comment", "title: NUCLEO", 'title: "*/ int x; /*" # ', "title: error N6-YAML-004"),
    ("a title that is carried out", "title: NUCLEO-N657X0-Q", "title: ${x}", "title: error N6-YAML-004"),
    ("a title for a terminal", "title: NUCLEO-N657X0-Q", 'title: "\\e[2J"', "'\\x1b[2J' is not a title"),
    ("an alias that is a way out", "[nucleo-n657x0-q]", "[../x]", "aliases.0: error N6-YAML-004"),
    ("a part that ends a line", "part: MX25UM51245G", 'part: "a\\nb"', "nor.part: error N6-YAML-004"),
    (
        "a loader from elsewhere",
        "external_loader: MX",
        "external_loader: ../MX",
        "programmer.external_loader: error N6-YAML-004",
    ),
    (
        "a target that is an option",
        "pyocd_target: stm",
        "pyocd_target: --stm",
        "programmer.pyocd_target: error N6-YAML-004",
    ),
    ("a pool that is no name", "  octoFlash:", '  "a;b":', "pools.a;b: error N6-YAML-004"),
    ("weights in another folder", "fname: xSPI2", "fname: ../xSPI2", "pools.octoFlash.fname: error N6-YAML-004"),
    ("a pin in other digits", "tx: PE5", "tx: PE\uff15", "console.tx: error N6-YAML-004"),
]


@pytest.mark.parametrize(("old", "new", "message"), [lie[1:] for lie in LIES], ids=[lie[0] for lie in LIES])
def test_is_refused(boards: Path, old: str, new: str, message: str) -> None:
    edit(boards, "nucleo-n657/board.yaml", old, new)
    with pytest.raises(N6Error) as error:
        load_board("nucleo-n657", boards)
    assert message in str(error.value)
    assert re.match(r"boards/(nucleo-n657/board|soc/stm32n657)\.yaml:\d+", str(error.value))


def test_the_line_is_the_line_of_the_key(boards: Path) -> None:
    line = edit(boards, "nucleo-n657/board.yaml", "  sector: 64K", "  sector: 60K")
    with pytest.raises(N6Error, match=rf"boards/nucleo-n657/board.yaml:{line}: nor.sector"):
        load_board("nucleo-n657", boards)


PSRAM_LIES = [
    ("a pool in a region that is none", "region: heap", "region: hep", "pools.hyperRAM.region", "did you mean 'heap'"),
    (
        "a pool in two places",
        "region: heap, size",
        "region: heap, slot: weights, size",
        "pools.hyperRAM",
        "either 'slot'",
    ),
    ("a size for no pool", "{cpuRAM2: 0}", "{cpuRAM: 0}", "pool_sizes.cpuRAM", "did you mean 'cpuRAM2'"),
    ("a window that is none", "XSPI1_WINDOW", "XSPI9_WINDOW", "external_ram.memory", "N6-BOARD-011: no memory"),
    (
        "more RAM than its window",
        "size: 64M",
        "size: 512M",
        "external_ram.size",
        "is 268435456 bytes larger than the window",
    ),
    (
        "a window that is not XSPI1's",
        "XSPI1_WINDOW",
        "XSPI3_WINDOW",
        "external_ram.memory",
        "maps a PSRAM into XSPI1_WINDOW",
    ),
    (
        "a size that is no power of two",
        "size: 64M",
        "size: 63M",
        "external_ram.size",
        "the size of a PSRAM must be a power of two",
    ),
    (
        "a size that no part has",
        "size: 64M",
        "size: 128M",
        "external_ram.size",
        "N6-BOARD-011: no part of family apmemory-x16",
    ),
    (
        "commands that are none",
        "commands: apmemory-x16",
        "commands: apmemory",
        "external_ram.psram.commands",
        "N6-BOARD-014",
    ),
    (
        "a port that is none",
        "port: GPIOP",
        "port: GPIOI",
        "external_ram.psram.data.port",
        "N6-BOARD-004: no port 'GPIOI'",
    ),
    (
        "a chip select elsewhere",
        "chip_select: 0",
        "chip_select: 1",
        "external_ram.psram.control.chip_select",
        "not one of the lines",
    ),
    ("fifteen data lines", "14, 15]", "14]", "external_ram.psram.data.lines", "N6-BOARD-004: 15 different lines"),
    ("one strobe", "[0, 2, 3, 4]", "[0, 2, 4]", "external_ram.psram.control.lines", "N6-BOARD-004: 3 different lines"),
    ("a heap in no memory", "{memory: AXISRAM2", "{memory: AXISRAM9", "file_heap.memory", "N6-BOARD-011: no memory"),
    (
        "a heap beyond it",
        "AXISRAM2, size: 1M",
        "AXISRAM2, size: 2M",
        "file_heap.size",
        "1048576 bytes larger than AXISRAM2",
    ),
    ("a rail that is none", "supply: VDDIO2", "supply: VDDIO5", "external_ram.psram.supply", "N6-YAML-004"),
]


@pytest.mark.parametrize(
    ("old", "new", "key", "message"), [lie[1:] for lie in PSRAM_LIES], ids=[lie[0] for lie in PSRAM_LIES]
)
def test_of_a_board_with_external_ram_is_refused(boards: Path, old: str, new: str, key: str, message: str) -> None:
    edit(boards, "openmv-n6/board.yaml", old, new)
    with pytest.raises(N6Error) as error:
        load_board("openmv-n6", boards)
    assert re.match(rf"boards/openmv-n6/board\.yaml:\d+: {key}", str(error.value))
    assert message in str(error.value)


def test_memories_of_the_chip_may_not_overlap(boards: Path) -> None:
    edit(boards, "soc/stm32n6.yaml", "AXISRAM2: {base: 0x34100000, size: 1M,", "AXISRAM2: {base: 0x34100000, size: 2M,")
    with pytest.raises(
        N6Error, match="memories.AXISRAM3: error N6-SOC-001: memory AXISRAM3 begins 1048576 bytes before"
    ):
        load_board("nucleo-n657", boards)


def test_a_key_may_not_stand_twice(boards: Path) -> None:
    edit(boards, "nucleo-n657/board.yaml", "soc: stm32n657\n", "soc: stm32n657\nsoc: stm32n657\n")
    with pytest.raises(N6Error, match=r"board.yaml:5: soc: error N6-YAML-005"):
        load_board("nucleo-n657", boards)


def test_a_profile_that_the_board_lacks_is_refused() -> None:
    with pytest.raises(N6Error, match="no profile 'noextmen'\n  hint: did you mean 'noextmem'"):
        load_board("nucleo-n657").profile("noextmen")


@pytest.mark.parametrize("name", ["flash", "matrix", "virtual_board", "nucleo-n657-field"])
def test_a_board_does_not_share_the_folder_of_other_build_products(boards: Path, name: str) -> None:
    (boards / "nucleo-n657").rename(boards / name)
    edit(boards, f"{name}/board.yaml", "name: nucleo-n657", f"name: {name}")
    with pytest.raises(N6Error, match="name: error N6-BOARD-015"):
        load_board(name, boards)


@pytest.mark.parametrize("title", ["NUCLEO-N657X0-Q (rev. C01)", "M\u00fcller & S\u00f6hne +1", "\u677f 2"])
def test_a_title_may_be_in_any_language(boards: Path, title: str) -> None:
    edit(boards, "nucleo-n657/board.yaml", "title: NUCLEO-N657X0-Q", f"title: {title}")
    assert load_board("nucleo-n657", boards).title == title
