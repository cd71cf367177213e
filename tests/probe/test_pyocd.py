"""PyOCD, as it is, at the probe server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from n6build.board.flash.algorithm_files import write_algorithm
from n6build.board.virtual_board.findings_file import read_findings
from n6build.board.virtual_board.source_lines import Places
from n6build.describe.hardware.boards import load_board

from probe.boards import CODE, DATA, STACK, assembled
from probe.real_tools import Server, probe_server, pyocd, run_tool
from probe.test_board import COUNTS, LOOP

# At the end of a program or an algorithm is a BKPT, which is a fault without a debugger.
STAYS_HALTED = ("-O", "resume_on_disconnect=false")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    pyocd()
    folder = tmp_path_factory.mktemp("pyocd")
    with probe_server(folder) as found:
        yield found
    # Whatever a debugger did is no finding of a program.
    findings, _ = read_findings(found.of_board / "findings.jsonl", Places([]))
    assert findings == []


def commander(server: Server, *commands: str, fails: bool = False) -> str:
    uid = f"remote:127.0.0.1:{server.pyocd_port}"
    words: list[str | Path] = [pyocd(), "commander", "--uid", uid, "--target", "cortex_m", *STAYS_HALTED]
    return run_tool([*words, *(word for command in commands for word in ("-c", command))], server.folder, fails)


def value(name: str, text: str) -> int:
    found = re.findall(rf"\b{name}[ =:]+0x([0-9a-f]+)", text)
    assert found, text
    return int(found[-1], 16)


def test_it_connects_and_finds_the_core_in_the_boot_rom(server: Server) -> None:
    text = commander(server, "halt", "status", "reg pc", "read32 0x54001000", "read32 0xe000ed00")
    assert "Halted [Secure]" in text
    assert value("pc", text) == LOOP
    assert re.search(r"54001000:\s+\w{5}486\b", text)
    assert re.search(r"e000ed00:\s+410fd221|e000ed00:\s+411fd221", text)


def test_it_loads_a_program_steps_and_runs_it_to_its_end(server: Server) -> None:
    (server.folder / "count.bin").write_bytes(assembled(server.folder, COUNTS))
    text = commander(
        server,
        "reset halt",
        f"loadmem {CODE:#x} count.bin",
        f"wreg sp {STACK:#x}",
        f"wreg pc {CODE:#x}",
        f"break {CODE + 4:#x}",
        "continue",
        "sleep 1000",
        "status",
        "reg pc",
        f"rmbreak {CODE + 4:#x}",
        "step 2",
        f"watch {DATA:#x} w 4",
        "continue",
        "sleep 1000",
        f"rmwatch {DATA:#x}",
        f"read32 {DATA:#x}",
        "continue",
        "sleep 1000",
        "reg r0",
    )
    assert re.findall(r"pc = 0x(\w+)", text) == [f"{CODE + 4:08x}"]
    assert f"{CODE + 6:#x}" in text
    assert re.search(rf"{DATA:x}:\s+00000002", text)
    assert value("r0", text) == 10


def test_registers_and_memory_can_be_written(server: Server) -> None:
    text = commander(
        server,
        "halt",
        "wreg r5 0x1234abcd",
        "wreg psp 0x34010000",
        "reg r5",
        "reg psp",
        f"write32 {DATA:#x} 0xcafe0001 0xcafe0002",
        f"write8 {DATA + 1:#x} 0x55",
        f"read32 {DATA:#x} 8",
    )
    assert (value("r5", text), value("psp", text)) == (0x1234_ABCD, 0x3401_0000)
    assert re.search(rf"{DATA:x}:\s+cafe5501 cafe0002", text)


def test_a_refused_access_is_an_error_and_the_server_names_the_reason(server: Server) -> None:
    text = commander(server, "halt", "read32 0x56008008", fails=True)
    assert "memory transfer failed" in text
    assert any(line.strip().startswith("Refused clock-off: SYSCFG at 0x56008008") for line in server.lines)
    assert "Halted" in commander(server, "halt", "status")


def test_a_reset_lets_the_core_run(server: Server) -> None:
    assert "Running" in commander(server, "halt", "reset", "status")
    assert value("pc", commander(server, "reset halt", "reg pc")) == LOOP


# pyOCD takes an FLM file by itself, if it knows RAM for it.
WITH_FLM = """
from pyocd.core.memory_map import FlashRegion, RamRegion


def will_connect(board=None):
    known = target.memory_map
    for region in list(known):
        known.remove_region(region)
    known.add_region(RamRegion(name="ram", start={ram:#x}, length=0x10000, is_default=True))
    known.add_region(FlashRegion(name="nor", start={base:#x}, length={size:#x}, flm={flm!r}))
"""


@pytest.mark.parametrize("by", ["n6build's script", "FLM file"])
def test_a_flash_algorithm_programs_the_nor(server: Server, by: str) -> None:
    board = load_board(server.board)
    files = write_algorithm(board, server.folder / "algorithm")
    script = files.pyocd
    if by == "FLM file":
        script = server.folder / "flm.py"
        base, size = board.nor.base, board.nor.size
        ram = board.soc.boot.header_address
        script.write_text(WITH_FLM.format(base=base, size=size, ram=ram, flm=str(files.flm)))
    image, offset = Random(by).randbytes(20_000), 0x0071_0000 if by == "FLM file" else 0x0031_0000
    (server.folder / "image.bin").write_bytes(image)
    words: list[str | Path] = [
        pyocd(),
        "load",
        "--uid",
        f"remote:127.0.0.1:{server.pyocd_port}",
        "--target",
        "cortex_m",
        *STAYS_HALTED,
    ]
    at = f"image.bin@{board.nor.base + offset:#x}"
    text = run_tool(
        [*words, "--script", str(script), "--no-reset", "--erase", "sector", "--format", "bin", at], server.folder
    )
    assert "programmed 20480 bytes" in text
    nor = server.nor
    assert nor[offset:][: len(image)] == image
    around = nor[offset - 4096 : offset] + nor[offset + 20_480 :][:4096]
    assert around.count(0xFF) == len(around)
