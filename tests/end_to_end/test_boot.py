"""The real firmware reports bad flash content and never runs a network then."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.board.run.console_log import ends_run, read_console
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, NorBoot, RunResult, run_nor
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.fuse import Fuse
from slow_rows import slow_rows

from end_to_end.conftest import BuiltOnce, Project

BOARD = load_board("nucleo-n657")


@pytest.fixture(scope="module")
def nors(built_once: BuiltOnce, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return profile -> the flash's content after `flash`."""
    project = built_once.copy(tmp_path_factory.mktemp("built"), "model=keyword", "probe=virtual", "flash")
    nor = project.root / "build/virtual_board/nucleo-n657/nor.bin"
    contents = {"extflash": nor.read_bytes()}
    project.done("profile=noextmem", "model=keyword", "probe=virtual", "flash")
    return {**contents, "noextmem": nor.read_bytes()}


def boot(folder: Path, nor: bytearray, jedec_id: int = BOARD.nor.jedec_id, board: Board = BOARD) -> RunResult:
    path = folder / "nor.bin"
    path.write_bytes(nor)
    return run_nor(find_emulator(board.soc), NorBoot(path, board, jedec_id), programs=[], stop=ends_run)


def erase(slot: str, start: int = 0) -> Callable[[bytearray], None]:
    def change(nor: bytearray) -> None:
        part = dict(BOARD.slots.items())[slot]
        first = part.address - BOARD.nor.base + start
        nor[first : first + part.size - start] = b"\xff" * (part.size - start)

    return change


def flip(slot: str, offset: int) -> Callable[[bytearray], None]:
    def change(nor: bytearray) -> None:
        nor[dict(BOARD.slots.items())[slot].address - BOARD.nor.base + offset] ^= 1

    return change


WEIGHTS_BYTES = 29072
TRAILER = -(-WEIGHTS_BYTES // 16) * 16
FAULTS = [
    ("an erased Appli", erase("appli"), "N6-FW-010"),
    ("an Appli without header", flip("appli", 0), "N6-FW-011"),
    ("an Appli that says it is larger than its slot", flip("appli", 0x6F), "N6-FW-012"),
    ("a damaged Appli", flip("appli", 0x1000), "N6-FW-013"),
    ("erased weights", erase("weights"), "N6-FW-020"),
    ("truncated weights", erase("weights", 16384), "N6-FW-021"),
    ("weights of another network", flip("weights", TRAILER + 12), "N6-FW-022"),
    ("weights of another length", flip("weights", TRAILER + 4), "N6-FW-022"),
    ("a damaged weight", flip("weights", 1000), "N6-FW-023"),
    ("erased test vectors", erase("vectors"), "N6-FW-020"),
]


@pytest.mark.parametrize("profile", ["extflash", *slow_rows("noextmem")])
@pytest.mark.parametrize(("change", "id"), [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS])
def test_is_reported_and_not_run(
    nors: dict[str, bytes], tmp_path: Path, profile: str, change: Callable[[bytearray], None], id: str
) -> None:
    nor = bytearray(nors[profile])
    change(nor)
    log = read_console(boot(tmp_path, nor).lines)
    assert log.error is not None
    assert log.error[0] == id
    assert log.inferences == {}


def test_only_the_lines_of_copied_weights_and_buffers_are_cleaned(nors: dict[str, bytes], tmp_path: Path) -> None:
    result = boot(tmp_path, bytearray(nors["noextmem"]))
    assert result.findings == ()
    weights = [span for span in result.cleaned if span[0] == 0x342E_0000]
    assert weights == [(0x342E_0000, 0x342E_0000 + -(-WEIGHTS_BYTES // 32) * 32)]
    # The bank's test writes its first and last word through the cache.
    last_line = (0x3434_FFE0, 0x3435_0000)
    others = [span for span in result.cleaned if span[0] != 0x342E_0000 and span != last_line]
    assert all(0x3420_0000 <= start < end <= 0x3427_0000 for start, end in others)


def test_another_nor_is_named_with_what_was_expected(nors: dict[str, bytes], tmp_path: Path) -> None:
    lines = boot(tmp_path, bytearray(nors["extflash"]), jedec_id=0xC28539).lines
    assert "n6 fsbl nor id=0x00c28539 mode=opi-dtr expected=0x00c2803a clock=50000000 slow-pads" in lines


@pytest.mark.parametrize(
    ("value", "said"),
    [(1 << 15, "clock=100000000"), (1 << 16, "clock=50000000 slow-pads"), (0, "clock=50000000 slow-pads")],
)
def test_the_nor_is_fast_only_where_the_fuse_of_its_pads_is_blown(
    value: int, said: str, nors: dict[str, bytes], tmp_path: Path
) -> None:
    result = boot(tmp_path, bytearray(nors["extflash"]), board=replace(BOARD, fuses=(Fuse(124, value),)))
    assert f"n6 fsbl nor id=0x00c2803a mode=opi-dtr {said}" in result.lines
    assert (result.findings, read_console(result.lines).done) == ((), 10)


def test_a_nor_that_is_silent_is_said(nors: dict[str, bytes], tmp_path: Path) -> None:
    log = read_console(boot(tmp_path, bytearray(nors["extflash"]), jedec_id=0xFFFFFF).lines)
    assert log.error is not None
    assert log.error[0] == "N6-FW-002"


@pytest.mark.slow
@pytest.mark.parametrize("clock_profile", ["hsi", "hsi-only", "cube", "overdrive"])
@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_one_line_spi_with_every_clock(project: Project, clock_profile: str) -> None:
    project.replace("boards/nucleo-n657/board.yaml", "mode: opi-dtr", "mode: spi")
    result = project.done("model=keyword", "probe=virtual", f"clock={clock_profile}", "flash", "run")
    assert "mode=spi" in result.output
    assert "10 of 10 outputs equal" in result.output


@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_the_copy_of_the_fsbl_starts_if_the_first_one_is_damaged(project: Project, tmp_path: Path) -> None:
    result = project.done("model=keyword", "probe=virtual", "fsbl_copy=on", "flash", "run")
    assert "bytes of fsbl_image.bin" in result.output
    nor = bytearray((project.root / "build/virtual_board/nucleo-n657/nor.bin").read_bytes())
    flip("fsbl", 0x800)(nor)
    assert "n6 done runs=10" in boot(tmp_path, nor).lines
    refused = project.scons("probe=virtual", "fsbl=build/nucleo-n657/fsbl_image.bin", "fsbl_copy=on")
    assert "error N6-OPTION-026" in refused.output


# With a number of runs, the inputs go over the link.
@pytest.mark.parametrize("runs", [(), *slow_rows(("runs=2",))])
@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_a_finding_fails_the_run_with_its_source_line(project: Project, runs: tuple[str, ...]) -> None:
    project.replace("firmware/appli/n6_memory.c", "result = power_banks();", "result = well;\n    (void)power_banks;")
    result = project.scons("model=keyword", "probe=virtual", "flash", "run", *runs).refused()
    assert "AXISRAM3 at 0x342" in result.output
    assert "N6-RUN-004" in result.output
    assert "firmware/appli/n6_inference.c:" in result.output


CLEAN = "by_set_and_way(N6_SCB_DCCISW);"
DISABLE = "    n6_caches_disable();\n"
CACHE_MISTAKES = [
    ("the disable path never ends", "bring_up/n6_cache.c", CLEAN, "for (;;) {\n        }", None),
    ("the caches stay on", "fsbl/n6_load_appli.c", DISABLE, "", "stale-code"),
    ("the copy is not cleaned", "bring_up/n6_cache.c", CLEAN, "n6_barrier();", "hidden-cache"),
    ("the copy is invalidated", "bring_up/n6_cache.c", CLEAN, "by_set_and_way(N6_SCB_DCISW);", "cache-lost"),
    ("one way is forgotten", "bring_up/n6_cache.c", "way <= ways; way++", "way < ways; way++", "hidden-cache"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "kind"), [row[1:] for row in CACHE_MISTAKES], ids=[row[0] for row in CACHE_MISTAKES]
)
@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_an_fsbl_that_leaves_the_appli_in_the_data_cache(
    project: Project, file: str, old: str, new: str, kind: str | None
) -> None:
    project.replace(f"firmware/{file}", old, new)
    assert project.scons("model=keyword", "probe=virtual", "flash").status == 0
    nor = project.root / "build/virtual_board/nucleo-n657/nor.bin"
    fsbl = project.root / "build/nucleo-n657/fsbl/fsbl.elf"
    few = Limits(silence=100_000_000)
    result = run_nor(find_emulator(BOARD.soc), NorBoot(nor, BOARD), programs=[fsbl], stop=ends_run, limits=few)
    assert any(line.startswith("n6 fsbl appli") for line in result.lines)
    assert not any(line.startswith("n6 appli start") for line in result.lines)
    assert kind is None or result.findings[0].kind == kind
    if kind:
        assert result.findings[0].where.startswith(("firmware/fsbl/n6_load_appli.c:", "firmware/bring_up/n6_"))
    else:
        assert (result.ended, result.findings) == ("silent", ())


@pytest.mark.slow
@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_a_set_that_is_forgotten_does_not_end_the_emulator(project: Project) -> None:
    """The Appli's code is in lines that the cache hides, among others."""
    project.replace("firmware/bring_up/n6_cache.c", "set <= sets", "set < sets")
    assert project.scons("model=keyword", "probe=virtual", "flash").status == 0
    nor = project.root / "build/virtual_board/nucleo-n657/nor.bin"
    few = Limits(100_000_000, 20_000_000)
    result = run_nor(find_emulator(BOARD.soc), NorBoot(nor, BOARD), programs=[], stop=ends_run, limits=few)
    assert {finding.kind for finding in result.findings} & {"stale-code", "hidden-cache"}


@pytest.mark.slow
@pytest.mark.built("model=keyword", "backend=neural_art", "probe=virtual", "flash")
def test_lines_that_are_dropped_before_they_are_cleaned_are_found(project: Project) -> None:
    project.replace(
        "firmware/bring_up/n6_cache.c",
        "by_line(N6_SCB_DCCMVAC, address, bytes);",
        "(void)address;\n    (void)bytes;",
    )
    # With the invalidation, the lines of the input are clean before the network invalidates them.
    project.replace(
        "firmware/appli/n6_inference.c",
        "n6_dcache_clean_invalidate((uintptr_t)LL_Buffer_addr_start(buffer), bytes);",
        "n6_dcache_clean((uintptr_t)LL_Buffer_addr_start(buffer), bytes);",
    )
    result = project.scons("model=keyword", "backend=neural_art", "probe=virtual", "flash", "run").refused()
    assert "N6-RUN-004" in result.output
    assert "the line was invalidated by address and never cleaned, and the NPU reads" in result.output


@pytest.mark.slow
@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_a_fault_says_where(project: Project) -> None:
    project.replace(
        "firmware/appli/main.c",
        "    n6_appli_serve(",
        "    *(volatile uint32_t *)0x20100000u = 1;\n    n6_appli_serve(",
    )
    result = project.scons("model=keyword", "probe=virtual", "flash", "run").refused()
    assert "n6 fault HardFault cfsr=0x00008200" in result.output
    assert "bfar=0x20100000" in result.output
    assert "firmware/appli/main.c:" in result.output
    assert json.loads((project.root / "build/last_error.json").read_text())["id"] == "N6-RUN-004"
