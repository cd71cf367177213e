"""The GDB server of each programmer: its call, its start and its errors."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.board.flash.debug import PORT, serve_debugger
from n6build.board.flash.probe_programmer import ProbeProgrammer
from n6build.board.flash.probes import PROGRAMMERS
from n6build.describe.hardware.boards import load_board
from n6build.steps.debug_board import gdb_command
from programmer_stand_ins.board import Desk, Settings, make_desk

BOARD = load_board("nucleo-n657")
ALL = ("stm32cubeprogrammer", "openocd", "pyocd")


def programmer(desk: Desk, name: str, serial: str = "0041") -> ProbeProgrammer:
    kind = PROGRAMMERS[name]
    return ProbeProgrammer(kind, desk.commands / kind.command, serial, BOARD, desk.folder / "record.json")


def never() -> None:
    raise AssertionError("it was not ready")


def test_every_programmer_but_probe_rs_has_one() -> None:
    assert {name for name, kind in PROGRAMMERS.items() if kind.debug} == set(ALL) == {*PROGRAMMERS} - {"probe-rs"}


@pytest.mark.parametrize("name", ALL)
def test_a_server_that_gets_ready_and_ends_with_its_debugger(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    desk = make_desk(tmp_path, Settings(), name)
    ready: list[bool] = []
    serve_debugger(programmer(desk, name), PORT, lambda: ready.append(True))
    assert ready == [True]
    (call,) = desk.calls()
    server = PROGRAMMERS[name].debug
    assert server is not None
    assert call.startswith(server.command)
    assert "Server" in capfd.readouterr().out, "what it says from then on is shown"


@pytest.mark.parametrize("name", ALL)
def test_a_probe_that_is_gone(name: str, tmp_path: Path) -> None:
    desk = make_desk(tmp_path, Settings(), name)
    with pytest.raises(N6Error, match="N6-DEBUG-003: the GDB server did not start: "):
        serve_debugger(programmer(desk, name, "0042"), PORT, never)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("kind", ["error", "killed"])
def test_a_server_that_breaks_off(name: str, kind: str, tmp_path: Path) -> None:
    desk = make_desk(tmp_path, Settings(), name)
    desk.fail(1, kind)  # type: ignore[arg-type]
    with pytest.raises(N6Error, match="N6-DEBUG-003"):
        serve_debugger(programmer(desk, name), PORT, never)


def test_the_server_beside_the_programmer_comes_before_one_of_another_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = make_desk(tmp_path / "desk", Settings(), "stm32cubeprogrammer")
    other = tmp_path / "other"
    other.mkdir()
    (other / "ST-LINK_gdbserver").write_text("#!/bin/sh\nexit 1\n")
    (other / "ST-LINK_gdbserver").chmod(0o755)
    monkeypatch.setenv("PATH", str(other), prepend=":")
    serve_debugger(programmer(desk, "stm32cubeprogrammer"), PORT, lambda: None)


def test_as_stm32cubeclt_installs_it(tmp_path: Path) -> None:
    made = make_desk(tmp_path / "made", Settings(), "stm32cubeprogrammer")
    clt = tmp_path / "STM32CubeCLT"
    (clt / "STLink-gdb-server/bin").mkdir(parents=True)
    (clt / "STM32CubeProgrammer").mkdir()
    (made.commands / "ST-LINK_gdbserver").rename(clt / "STLink-gdb-server/bin/ST-LINK_gdbserver")
    made.commands.rename(clt / "STM32CubeProgrammer/bin")
    made.commands.mkdir()
    desk = replace(made, commands=clt / "STM32CubeProgrammer/bin")
    ready: list[bool] = []
    serve_debugger(programmer(desk, "stm32cubeprogrammer"), PORT, lambda: ready.append(True))
    assert ready


def test_a_server_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = make_desk(tmp_path, Settings(), "stm32cubeprogrammer")
    (desk.commands / "ST-LINK_gdbserver").unlink()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(N6Error, match="N6-DEBUG-002: .*neither in PATH nor beside STM32_Programmer_CLI"):
        serve_debugger(programmer(desk, "stm32cubeprogrammer"), PORT, never)


def test_a_programmer_without_one(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, Settings(), "probe-rs")
    with pytest.raises(N6Error, match="N6-DEBUG-001: n6build starts no GDB server of probe-rs"):
        serve_debugger(programmer(desk, "probe-rs"), PORT, never)


def test_the_command_for_a_terminal_can_be_pasted() -> None:
    command = gdb_command(["build/my board/fsbl.elf", "build/appli.elf"], "build/my board/registers.gdb")
    shell = ["bash", "-c", f"printf '%s\\n' {command}"]
    words = subprocess.run(shell, capture_output=True, text=True, check=True).stdout.splitlines()
    assert words == [
        "arm-none-eabi-gdb", "-ex", "target extended-remote localhost:3333", "-x", "build/my board/registers.gdb",
        "-ex", 'add-symbol-file "build/my board/fsbl.elf"', "build/appli.elf",
    ]  # fmt: skip
