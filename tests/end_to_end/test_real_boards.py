"""The whole path to a board on a cable.

The tests use real scons, a stand-in of ST's programmer, and the virtual board as the board.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, NorBoot, nor_command
from n6build.describe.hardware.boards import load_board
from patience import NET_S, wait_until
from programmer_stand_ins.board import Desk, Settings, make_desk

from end_to_end.conftest import Project, Result

BOARD = load_board("nucleo-n657")
SETTINGS = Settings(size=BOARD.nor.size, erase=BOARD.nor.sector)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path / "desk", SETTINGS, "stm32cubeprogrammer")


def scons(project: Project, desk: Desk, *arguments: str) -> Result:
    return project.scons("model=keyword", *arguments, PATH=f"{desk.commands}:{os.environ['PATH']}")


@pytest.mark.slow
@pytest.mark.built("model=keyword", "build")
def test_a_board_on_a_cable_is_looked_at_every_time(project: Project, desk: Desk) -> None:
    first = scons(project, desk, "flash").done()
    assert "Read back nucleo-n657 (0041), n6build has no record of it" in first.output
    assert first.flashed == "4 of 4 sectors programmed and verified (256.0 KiB)"
    again = scons(project, desk, "flash")
    assert again.actions == ["Flash 0041-nucleo-n657.json"]
    assert again.flashed == "already up to date"
    # A colleague's build has programmed the board, or another board is at the same probe.
    desk.overwrite(BOARD.slots.appli.address, bytes(1024))
    other = scons(project, desk, "flash")
    assert "its content differs from its record at 0x70100000" in other.output
    assert other.flashed == "1 of 4 sectors programmed and verified (64.0 KiB)"
    (desk.folder / "nor.bin").write_bytes(b"\xff" * SETTINGS.size)
    assert scons(project, desk, "flash").flashed == "4 of 4 sectors programmed and verified (256.0 KiB)"


@pytest.mark.slow
@pytest.mark.built("model=keyword", "build")
def test_a_byte_that_no_witness_sees_is_named_by_verify_and_programmed_by_flash(project: Project, desk: Desk) -> None:
    assert scons(project, desk, "flash", "verify").status == 0
    desk.overwrite(BOARD.slots.appli.address + 0x2000, b"wrong")
    assert scons(project, desk, "flash").flashed == "already up to date"
    calls = len(desk.calls())
    verify = scons(project, desk, "verify").refused()
    assert "Differs 0x70100000 in slot appli: " in verify.output
    assert "nucleo-n657 (0041): error N6-FLASH-024: 1 of 4 sectors differ" in verify.output
    orders = {word for call in desk.calls()[calls:] for word in call.split() if word.startswith("-")}
    assert orders <= {"-l", "-c", "-el", "-r"}
    assert scons(project, desk, "flash").flashed == "1 of 4 sectors programmed and verified (64.0 KiB)"


# In every run: test_change_table.py (one weight), tests/flash/test_programmers.py.
@pytest.mark.slow
@pytest.mark.built("model=keyword", "build")
def test_one_changed_weight_programs_one_sector(project: Project, desk: Desk) -> None:
    assert scons(project, desk, "flash").status == 0
    project.change_one_weight("keyword")
    assert scons(project, desk, "flash").flashed == "1 of 4 sectors programmed and verified (64.0 KiB)"
    program = next(call for call in reversed(desk.calls()) if " -w " in call)
    assert program.count(" -w ") == 1
    assert " 0x71000000" in program


@pytest.mark.slow
@pytest.mark.built("model=keyword", "build")
def test_a_dry_run_does_not_stop_the_board(project: Project, desk: Desk) -> None:
    assert scons(project, desk, "flash").status == 0
    project.change_one_weight("keyword")
    calls = len(desk.calls())
    assert "Would flash 1 of 4 sectors, 64.0 KiB, about 1 s" in scons(project, desk, "flash", "dry=1").output
    assert [call.split()[1] for call in desk.calls()[calls:]] == ["-l"]


@pytest.mark.built("model=keyword", "build")
def test_a_cable_that_is_pulled_while_programming(project: Project, desk: Desk) -> None:
    desk.fail(12, "error")
    result = scons(project, desk, "flash").refused()
    assert "ST-LINK error (DEV_USB_COMM_ERR)" in result.output
    assert "hint: unplug the probe's USB cable" in result.output
    desk.work()
    assert scons(project, desk, "flash").status == 0
    assert scons(project, desk, "flash").flashed == "already up to date"


@pytest.mark.slow
@pytest.mark.built("model=keyword", "build")
def test_ctrl_c_while_programming(project: Project, desk: Desk) -> None:
    # Another checkout has built for the same board.
    other = Project(Path(shutil.copytree(project.root, project.root.with_name("other"))), project.home)
    desk.fail(12, "hangs")
    with project.started("model=keyword", "flash", PATH=f"{desk.commands}:{os.environ['PATH']}") as process:
        wait_until((desk.folder / "hangs").exists, process)
        # A second build finds the board in use.
        assert "N6-FLASH-002: another build is using board '0041'" in scons(other, desk, "flash").output
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=NET_S)
    assert process.returncode
    assert "Traceback" not in output, output
    desk.work()
    assert scons(project, desk, "flash").status == 0
    assert scons(project, desk, "flash").flashed == "already up to date"


@pytest.mark.built("model=keyword", "build")
def test_the_wrong_board_is_not_programmed(project: Project, desk: Desk) -> None:
    desk.set(replace(SETTINGS, probes={"0041": "STM32N6570-DK"}))
    result = scons(project, desk, "flash").refused()
    assert "this is a STM32N6570-DK, not a NUCLEO-N657X0-Q; nothing was programmed" in result.output
    assert "hint: set board=stm32n6570-dk" in result.output
    assert desk.content(BOARD.nor.base, 16) == b"\xff" * 16


@contextmanager
def console(noise: bytes = b"") -> Iterator[tuple[str, str]]:
    """Yield the two ends of a serial cable: the board's and ours.

    Args:
        noise: Bytes that precede each piece of data that the board receives.
    """
    ends = [os.openpty(), os.openpty()]
    for end in ends:
        tty.setraw(end[0])
        tty.setraw(end[1])
    (theirs, board), (ours, host) = ends
    done = threading.Event()

    def carry() -> None:
        while not done.is_set():
            for source in select.select([theirs, ours], [], [], 0.05)[0]:
                data = os.read(source, 4096)
                os.write(ours if source == theirs else theirs, data if source == theirs else noise + data)

    thread = threading.Thread(target=carry, daemon=True)
    thread.start()
    try:
        yield os.ttyname(board), os.ttyname(host)
    finally:
        done.set()
        thread.join()
        for end in ends:
            os.close(end[0])
            os.close(end[1])


def switched_on(desk: Desk, port: str) -> Settings:
    """Return a board that starts when the programmer resets it.

    It starts from its NOR, or with the program that was put into its RAM.
    """
    boot = NorBoot(desk.folder / "nor.bin", BOARD)
    command = nor_command(
        find_emulator(BOARD.soc), boot, desk.folder / "findings.jsonl", port, Limits(instructions=None)
    )
    in_ram = [*command, "-kernel", str(desk.folder / "ram.bin")]
    # The board ends with the test, and a new start ends the old one.
    script = (
        "import os, pathlib, signal, subprocess, sys\n"
        "pid = pathlib.Path(sys.argv[1])\n"
        "if pid.exists(): os.kill(int(pid.read_text()), signal.SIGKILL)\n"
        "process = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "pid.write_text(str(process.pid))\n"
    )
    start = (sys.executable, "-c", script, str(desk.folder / "pid"))
    return replace(SETTINGS, on_reset=(*start, *command), on_start=(*start, *in_ram))


@contextmanager
def on_a_cable(desk: Desk, noise: bytes = b"", **changes: Any) -> Iterator[str]:
    """Yield our end of the serial cable of a board that starts.

    Args:
        noise: Bytes that precede each piece of data that the board receives.
        changes: Changed settings of the board.
    """
    with console(noise) as (theirs, ours):
        desk.set(replace(switched_on(desk, theirs), **changes))
        try:
            yield ours
        finally:
            if (desk.folder / "pid").exists():
                os.kill(int((desk.folder / "pid").read_text()), 9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "start"),
    [(b"", "flash"), (b"\xff\x00\x13n6", "flash"), (b"", "ram")],
    ids=["a good cable", "a noisy cable", "selectors as for programming"],
)
@pytest.mark.built("model=keyword", "build")
def test_load_and_run(project: Project, desk: Desk, noise: bytes, start: str) -> None:
    # With the boot selectors as for programming, a reset starts nothing.
    with on_a_cable(desk, noise, **({"on_reset": ()} if start == "ram" else {})) as ours:
        result = scons(project, desk, "flash", "run", "runs=3", f"console={ours}", f"start={start}").done()
    assert "Console n6 fsbl start board=nucleo-n657" in result.output
    assert "3 of 3 outputs equal" in result.output
    assert "cycles        [" in result.output
    assert "inf/s" in result.output
    junit = (project.root / "build/nucleo-n657/keyword/run.xml").read_text()
    assert 'tests="3"' in junit


@pytest.mark.slow
@pytest.mark.built("model=keyword", "build")
def test_models_with_two_slots_on_a_board_on_a_cable(project: Project, desk: Desk) -> None:
    """The board's report of its slots over the console decides the next slot."""
    with on_a_cable(desk) as ours:
        options = ("loader=reloc", "slots=2", f"console={ours}")
        assert "1 of 1 outputs equal" in scons(project, desk, *options, "flash", "run", "runs=1").done().output
        project.change_one_weight("keyword")
        assert "written to slot b as revision 1" in scons(project, desk, *options, "flash-model").done().output
        third = scons(project, desk, *options, "mode=no-flash", "run", "runs=1", "inputs=models/keyword/inputs.npy")
    assert "n6 model keyword slot=b revision=1" in third.output, third.output
    assert "1 of 1 outputs equal the reference interpreter" in third.output


@pytest.mark.slow
def test_a_dry_run_of_models_with_two_slots_would_have_to_ask_the_board(project: Project, desk: Desk) -> None:
    assert "N6-OPTION-006" in scons(project, desk, "loader=reloc", "slots=2", "dry=1", "flash-model").output
    assert all(" -r " not in call for call in desk.calls())


@pytest.mark.slow
@pytest.mark.built("model=keyword", "build")
def test_a_debugger_on_a_board_on_a_cable(project: Project, desk: Desk) -> None:
    result = scons(project, desk, "flash", "run", "gdb=1").done()
    assert "Waiting for GDB on port 3333, nucleo-n657 is halted; Ctrl-C ends it" in result.output
    elves = "'add-symbol-file \"build/nucleo-n657/fsbl/fsbl.elf\"' build/nucleo-n657/keyword/appli/appli.elf"
    assert (
        f"arm-none-eabi-gdb -ex 'target extended-remote localhost:3333' -x build/nucleo-n657/keyword/registers.gdb -ex {elves}"
        in result.output
    )
    *_, reset, server = desk.calls()
    assert "-hardRst" in reset
    assert server.startswith("ST-LINK_gdbserver -p 3333 ")
    assert server.endswith(" -d -m 1 -i 0041 --halt")
    assert "N6-OPTION-009: with 'gdb=1' on a real board" in scons(project, desk, "run", "gdb=1", "runs=3").output
    desk.fail(3, "error")
    broken = scons(project, desk, "run", "gdb=1", "mode=no-flash").refused()
    assert "N6-DEBUG-003: the GDB server did not start" in broken.output


@pytest.mark.slow
@pytest.mark.built("model=keyword", "build")
def test_a_probe_without_a_console(project: Project, desk: Desk) -> None:
    result = scons(project, desk, "flash", "run").refused()
    assert "N6-LINK-007: probe 0041 has no serial port" in result.output
    assert "hint: name the port, for example console=" in result.output


@pytest.mark.slow
@pytest.mark.built("model=keyword", "build")
def test_a_board_that_does_not_start(project: Project, desk: Desk) -> None:
    """The board stays silent, because its selectors are still those for programming."""
    with console() as (_, ours):
        result = scons(project, desk, "flash", "run", f"console={ours}").refused()
    assert "N6-LINK-001: the board prints nothing after its start" in result.output
    assert f"boot selectors for running: {BOARD.programmer.flash_boot}" in result.output
