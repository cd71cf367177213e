"""Development boot: the boot ROM waits for a probe, which programs the NOR."""

from __future__ import annotations

import base64
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.findings_file import read_findings
from n6build.board.virtual_board.run import UNLIMITED, NorBoot, nor_command
from n6build.board.virtual_board.source_lines import Places
from n6build.describe.hardware.boards import load_board
from samples import sample

from virtual_board.gdb_client import PC, GdbClient

BOARD = load_board("stm32n6570-dk")
DBGMCU_SR, XSPI1_CR, XSPIM_CR, AHB5ENR = 0x5400_10FC, 0x5802_5000, 0x5802_B400, 0x5602_8260
SECTOR = 4096
# Places in RAM for a flash algorithm: where its functions return to, its data, and its stack.
RETURN, BUFFER, STACK = 0x2400_0000, 0x2401_0000, 0x2403_0000
STATIC_BASE = 9
ERASING, PROGRAMMING, VERIFYING = 1, 2, 3


@contextmanager
def probe(folder: Path) -> Iterator[GdbClient]:
    """Start the board in development boot, with an erased NOR in `nor.bin`."""
    nor = folder / "nor.bin"
    with nor.open("wb") as file:
        for _ in range(BOARD.nor.size >> 20):
            file.write(b"\xff" * (1 << 20))
    boot = NorBoot(nor, BOARD, strict_clocks=False, keeps_writes=True, development=True)
    # The path of a socket has at most a hundred characters.
    with tempfile.TemporaryDirectory() as short:
        server = Path(short) / "gdb"
        command = nor_command(find_emulator(BOARD.soc), boot, folder / "findings.jsonl", "null", UNLIMITED)
        command += ["-S", "-gdb", f"unix:{server},server=on,wait=off"]
        with subprocess.Popen(command) as process:
            try:
                client = GdbClient(server)
                yield client
                client.close()
            finally:
                process.terminate()


def test_an_empty_nor_waits_for_a_probe_with_the_controllers_as_after_reset(tmp_path: Path) -> None:
    with probe(tmp_path) as client:
        assert client.register(PC) == BOARD.soc.boot.development_loop
        assert client.read(DBGMCU_SR, 4) == (0x0003_0003).to_bytes(4, "little")
        for off in (XSPI1_CR, XSPIM_CR, AHB5ENR):
            assert client.read(off, 4) == bytes(4)


@pytest.fixture(scope="module")
def algorithm() -> dict[str, int | bytes]:
    """Return the values of probe-rs' flash algorithm for this board by their keys."""
    text = sample("probe/STM32N6_Series.yaml").read_text()
    values: dict[str, int | bytes] = {
        key: int(value, 16)
        for key, value in re.findall(
            r"^  (pc_\w+|load_address|data_section_offset): (0x[0-9a-f]+)$", text, re.MULTILINE
        )
    }
    found = re.search(r"^  instructions: (\S+)$", text, re.MULTILINE)
    assert found
    values["instructions"] = base64.b64decode(found[1])
    return values


def test_the_flash_algorithm_of_probe_rs_programs_an_empty_board(
    tmp_path: Path, algorithm: dict[str, int | bytes]
) -> None:
    code, load = algorithm["instructions"], algorithm["load_address"]
    assert isinstance(code, bytes)
    assert isinstance(load, int)
    address, page = BOARD.nor.base + 5 * SECTOR, bytes((7 * i + i // 256) & 0xFF for i in range(SECTOR))
    with probe(tmp_path) as client:
        client.write(load, code)
        client.write(RETURN, b"\xfe\xe7")
        client.write(BUFFER, page)

        def call(name: str, *arguments: int) -> int:
            offset, data = algorithm[name], algorithm["data_section_offset"]
            assert isinstance(offset, int)
            assert isinstance(data, int)
            client.set_register(STATIC_BASE, load + data)
            return client.call(load + offset, *arguments, stack=STACK, returns_to=RETURN)

        for purpose, function, arguments, result in (
            (ERASING, "pc_erase_sector", (address,), 0),
            (PROGRAMMING, "pc_program_page", (address, SECTOR, BUFFER), 0),
            (VERIFYING, "pc_verify", (address, SECTOR, BUFFER), address + SECTOR),
        ):
            assert call("pc_init", BOARD.nor.base, 0, purpose) == 0
            assert call(function, *arguments) == result
            assert call("pc_uninit", purpose) == 0
    nor = (tmp_path / "nor.bin").read_bytes()
    assert nor[5 * SECTOR :][:SECTOR] == page
    assert nor.count(0xFF) == len(nor) - SECTOR + page.count(0xFF)
    findings, _ = read_findings(tmp_path / "findings.jsonl", Places([]))
    assert [finding for finding in findings if not finding.is_warning] == []
