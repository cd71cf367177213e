"""OpenOCD, as it is, at the probe server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from n6build.board.virtual_board.findings_file import read_findings
from n6build.board.virtual_board.source_lines import Places

from probe.boards import CODE, DATA, STACK, assembled
from probe.real_tools import Server, openocd, probe_server, run_tool
from probe.test_board import COUNTS, LOOP


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    openocd()
    with probe_server(tmp_path_factory.mktemp("openocd")) as found:
        yield found
    findings, _ = read_findings(found.of_board / "findings.jsonl", Places([]))
    assert findings == []


def run(server: Server, *commands: str, transport: str = "jtag") -> str:
    quiet = ["gdb_port disabled", "telnet_port disabled", "tcl_port disabled", "init"]
    chosen = ["-c", f"set N6_TRANSPORT {transport}"]
    words: list[str | Path] = [openocd(transport), *chosen, "-f", server.of_board / "openocd.cfg"]
    return run_tool(
        [*words, *(word for each in (*quiet, *commands, "shutdown") for word in ("-c", each))], server.folder
    )


def test_it_finds_the_tap_and_the_core_in_the_boot_rom(server: Server) -> None:
    text = run(server, "halt", "reg pc", "mdw 0x54001000", "stm32n6x.ap0 mdw 0x80001000", "stm32n6x.ap0 mdw 0x44001000")
    assert "tap/device found: 0x6ba00477" in text
    assert "Cortex-M55" in text
    assert "8 breakpoints, 4 watchpoints" in text
    assert f"pc (/32): {LOOP:#010x}" in text
    assert len(set(re.findall(r"0x\w+: (\w{5}486)\b", text))) == 1


TRANSPORTS = pytest.mark.parametrize("transport", ["jtag", "swd"])


@TRANSPORTS
def test_it_loads_a_program_steps_and_runs_it_to_its_end(server: Server, transport: str) -> None:
    (server.folder / "count.bin").write_bytes(assembled(server.folder, COUNTS))
    text = run(
        server,
        "reset halt",
        f"load_image count.bin {CODE:#x} bin",
        f"verify_image count.bin {CODE:#x} bin",
        f"reg sp {STACK:#x}",
        f"reg pc {CODE:#x}",
        f"bp {CODE + 4:#x} 2 hw",
        "resume",
        "wait_halt 5000",
        f"rbp {CODE + 4:#x}",
        "step",
        f"wp {DATA:#x} 4 w",
        "resume",
        "wait_halt 5000",
        f"rwp {DATA:#x}",
        f"mdw {DATA:#x}",
        "resume",
        "wait_halt 5000",
        "reg r0",
        transport=transport,
    )
    places = re.findall(r"xPSR: 0x\w+ pc: 0x(\w+)", text)
    assert places == [f"{place:08x}" for place in (LOOP, CODE + 4, CODE + 6, CODE + 8, CODE + 0xC)]
    assert re.search(rf"{DATA:#x}: 00000001", text)
    assert "r0 (/32): 0x0000000a" in text


@TRANSPORTS
def test_memory_and_registers_can_be_written(server: Server, transport: str) -> None:
    text = run(
        server,
        "halt",
        f"mww {DATA:#x} 0xcafe0001",
        f"mwb {DATA + 1:#x} 0x55",
        f"mdw {DATA:#x}",
        "reg r5 0x1234",
        "reg r5",
        transport=transport,
    )
    assert f"{DATA:#x}: cafe5501" in text
    assert "r5 (/32): 0x00001234" in text


@TRANSPORTS
def test_a_refused_access_is_an_error(server: Server, transport: str) -> None:
    text = run(server, "halt", "if {[catch {mdw 0x56008008}]} {echo refused}", transport=transport)
    assert "refused" in text
    assert any("Refused clock-off: SYSCFG at 0x56008008" in line for line in server.lines)
    assert "halted" in run(server, "halt", "poll", transport=transport)


def test_it_finds_the_core_over_swd(server: Server) -> None:
    text = run(server, "reset halt", "reg pc", "mdw 0x54001000", transport="swd")
    assert "SWD DPIDR 0x6ba02477" in text
    assert f"pc (/32): {LOOP:#010x}" in text
    assert re.search(r"0x54001000: \w{5}486\b", text)
