"""Sessions of GDB at the virtual board, and at the servers of programmers.

The servers are those of pyOCD and OpenOCD. Each session breaks in the FSBL and in the Appli, steps over
the hand-over between them, and reads and writes registers by name.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from build_grid import free_port
from firmware_build import BOARD, build_appli, build_fsbl, image_of, write_nor
from n6build.base.paths import FIRMWARE
from n6build.board.flash.debug import serve_debugger
from n6build.board.flash.probe_programmer import ProbeProgrammer
from n6build.board.virtual_board import run
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import NorBoot, RunResult, run_nor
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.blocks import gdb_registers
from patience import NET_S
from virtual_board.small_programs import PROGRAMS

from probe.test_programmers import bench

SOC = BOARD.soc
FSBL_TABLE = SOC.boot.header_address + SOC.boot.payload_offset
APPLI_TABLE = SOC.load_and_run.load_address + SOC.load_and_run.payload_offset
# GDB with the names that distributions and Arm give it.
_NAMES = ("gdb-multiarch", "arm-none-eabi-gdb", "gdb")


def gdb() -> str:
    """Return a GDB that knows the architecture of the chip."""
    for name in _NAMES:
        found = shutil.which(name)
        if found and "armv8.1-m.main" in _said([found, "-nx", "--batch", "-ex", "set architecture armv8.1-m.main"]):
            return found
    pytest.skip("no GDB here knows Arm: apt-get install gdb-multiarch")


def _said(command: Sequence[str]) -> str:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=NET_S,
        check=False,
    )
    return "" if "Undefined item" in done.stdout else done.stdout


@dataclass(frozen=True)
class Programs:
    """The project's FSBL and a small Appli.

    Attributes:
        leaves: Address of the FSBL's last instruction.
    """

    fsbl: Path
    appli: Path
    nor: Path
    leaves: int


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    gdb()
    folder = tmp_path_factory.mktemp("programs")
    fsbl = build_fsbl(folder / "fsbl", FIRMWARE / "fsbl" / "main.c")
    appli = build_appli(folder / "appli", PROGRAMS / "says_hello.c", ["-DDOES=NOTHING"])
    slots, images = BOARD.slots, (image_of(fsbl, BinaryType.FSBL), image_of(appli, BinaryType.SSBL))
    nor = write_nor(folder / "nor.bin", dict(zip((slots.fsbl.address, slots.appli.address), images, strict=True)))
    (folder / "registers.gdb").write_text(gdb_registers(SOC))
    code = subprocess.run(
        ["arm-none-eabi-objdump", "-d", "--disassemble=n6_start_appli", fsbl],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (leaves,) = re.findall(r"([0-9a-f]+):\s[^\n]*\sbx\s+r", code)
    return Programs(fsbl, appli, nor, int(leaves, 16))


def session(programs: Programs, port: int, start: Sequence[str], writes: Sequence[str]) -> str:
    """Return what GDB prints.

    Args:
        start: Commands that bring the core to the first instruction of the FSBL.
        writes: Commands at the Appli's main.
    """
    script = programs.fsbl.parent / f"{port}.gdb"
    commands = [
        "set pagination off",
        "set confirm off",
        "set remotetimeout 60",
        f"target remote 127.0.0.1:{port}",
        f"add-symbol-file {programs.fsbl}",
        f"source {programs.nor.with_name('registers.gdb')}",
        *start,
        "hbreak main",
        "continue",
        # GDB looks for a caller of the start, and would read at an address where nothing is.
        "backtrace 2",
        f"hbreak *{programs.leaves:#x}",
        "continue",
        "stepi",
        "info registers pc",
        r'printf "VTOR %x CFSR %x\n", *$SCB_VTOR, *$SCB_CFSR',
        "continue",
        r'printf "stopped at %x\n", $pc',
        *writes,
        r'printf "ODR %x VTOR %x AHB4ENR %x\n", *$GPIOE_ODR, *$SCB_VTOR, *$RCC_AHB4ENR',
        "delete",
        "detach",
    ]
    script.write_text("\n".join(commands) + "\n")
    return _said([gdb(), "-nx", "--batch", "-x", str(script), str(programs.appli)])


def check(text: str, programs: Programs) -> None:
    """Check that a session saw each place in its order."""
    seen = (
        r"Breakpoint 1[.\d]*, main \(\) at firmware/fsbl/main\.c:\d+",
        r"#0  main \(\) at firmware/fsbl/main\.c:\d+\n#1 .* in n6_start \(\) at firmware/bring_up/n6_startup\.c:\d+",
        rf"Breakpoint 2, {programs.leaves:#010x} in n6_start_appli \(\)",
        r"reset \(\) at firmware/bring_up/n6_startup\.c:\d+",
        r"pc +0x3400[0-9a-f]{4} ",
        rf"VTOR {APPLI_TABLE:x} CFSR 0\n",
        r"Breakpoint 1[.\d]*, main \(\) at .*says_hello\.c:\d+",
        r"stopped at 3400[0-9a-f]{4}\n",
        rf"ODR 5a5 VTOR {APPLI_TABLE:x} AHB4ENR [1-9a-f]",
    )
    at = 0
    for each in seen:
        found = re.search(each, text[at:])
        assert found, f"no {each} in\n{text}"
        at += found.end()


def test_a_session_at_the_virtual_board(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setattr(run, "GDB_PORT", port)
    results: list[RunResult] = []

    def is_end(line: str) -> bool:
        return line == "end"

    boot = NorBoot(programs.nor, BOARD)
    runs = threading.Thread(
        target=lambda: results.append(
            run_nor(find_emulator(SOC), boot, programs=[programs.fsbl, programs.appli], stop=is_end, gdb=True)
        )
    )
    runs.start()
    # QEMU's stub writes to registers only while addresses are physical ones, and then the processor's own are missing.
    physical, virtual = (f"maintenance packet Qqemu.PhyMemMode:{mode}" for mode in (1, 0))
    text = session(programs, port, [], [physical, "set var *$GPIOE_ODR = 0x5a5", virtual])
    runs.join(NET_S)
    check(text, programs)
    (result,) = results
    assert any("hello" in line for line in result.lines)
    assert result.findings == ()


@pytest.fixture(params=["pyocd", "openocd"])
def programmer(request: pytest.FixtureRequest, programs: Programs, tmp_path: Path) -> Iterator[ProbeProgrammer]:
    """Yield a programmer at a board whose boot ROM waits for a debugger."""
    nor = tmp_path / "nor.bin"
    shutil.copyfile(programs.nor, nor)
    with bench(request.param, tmp_path, "--nor", str(nor)) as at:
        yield at.programmer


def test_a_session_through_the_server_of_a_programmer(programs: Programs, programmer: ProbeProgrammer) -> None:
    """GDB loads the FSBL into RAM as docs/debugging.md says."""
    port = free_port()
    said: list[str] = []
    start = [
        "monitor reset halt",
        f"load {programs.fsbl}",
        f"set $sp = *(unsigned int *) {FSBL_TABLE:#x}",
        f"set $pc = *(unsigned int *) {FSBL_TABLE + 4:#x}",
    ]
    writes = [
        "set var *$GPIOE_ODR = 0x5a5",
        "set var *$SCB_VTOR = 0x34000000",
        "output/x *$SCB_VTOR",
        f"set var *$SCB_VTOR = {APPLI_TABLE:#x}",
    ]
    serve_debugger(programmer, port, lambda: said.append(session(programs, port, start, writes)))
    check(said[0], programs)
    assert "0x34000000ODR" in said[0]
