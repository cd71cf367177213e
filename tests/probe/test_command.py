"""The command `n6build probe-server`."""

from __future__ import annotations

import os
import signal
import socket
from functools import partial
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.board.probe.server import HOST
from n6build.cli.probe_server import probe_server as serve
from patience import NET_S, wait_until

from probe.real_tools import Server, probe_server, remote_port


@pytest.mark.parametrize("ends_with", [signal.SIGTERM, signal.SIGINT])
def test_it_prints_a_command_for_each_debugger_and_ends_with_ctrl_c(tmp_path: Path, ends_with: signal.Signals) -> None:
    if signal.getsignal(ends_with) == signal.SIG_IGN:
        pytest.skip("a shell lets jobs in the background ignore Ctrl-C")
    with probe_server(tmp_path, ends_with=ends_with) as server:
        first, second = server.lines[:2]
        assert first.strip() == (f"pyOCD pyocd commander --uid remote:127.0.0.1:{server.pyocd_port} --target cortex_m")
        assert second.strip() == "OpenOCD openocd -f build/probe_server/nucleo-n657/openocd.cfg"
        assert server.nor.count(0xFF) == len(server.nor)
    assert server.process.returncode == 0
    assert server.lines[-1].strip() == "Ended nucleo-n657, NOR in build/probe_server/nucleo-n657/nor.bin"


def test_it_counts_the_transfers_of_each_debugger(tmp_path: Path) -> None:
    with probe_server(tmp_path) as server:
        for reads in (1, 5):
            with remote_port(server) as port:
                for _ in range(reads):
                    port.read_dp(0)
            wait_until(partial(_has_said, server, f"Debugger gone, {reads} transfers"), server.process)


def _has_said(server: Server, text: str) -> bool:
    return any(text in line for line in server.lines)


def test_two_boards_have_a_server_each(tmp_path: Path) -> None:
    with probe_server(tmp_path / "a") as first, probe_server(tmp_path / "b", "stm32n6570-dk") as second:
        assert len({first.pyocd_port, first.openocd_port, second.pyocd_port, second.openocd_port}) == 4


def test_an_emulator_that_is_killed_ends_the_server_with_a_named_error(tmp_path: Path) -> None:
    with probe_server(tmp_path) as server:
        children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
        (emulator,) = (int(each) for each in children)
        os.kill(emulator, signal.SIGKILL)
        assert server.process.wait(NET_S) == 2
    wait_until(lambda: any("N6-PROBE-003" in line for line in server.lines))


@pytest.mark.parametrize(
    ("words", "id"),
    [
        (["--port", "65536"], "N6-OPTION-019"),
        (["--port", "x"], "N6-OPTION-019"),
        (["--front", "gdb"], "N6-OPTION-019"),
        (["--boot", "usb"], "N6-OPTION-019"),
        (["more"], "N6-OPTION-019"),
        (["--board", "none-such"], "N6-BOARD-001"),
        (["--boot", "flash"], "N6-PROBE-001"),
    ],
)
def test_what_cannot_be_served_has_a_named_error(
    words: list[str], id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(N6Error, match=id):
        serve(words)


def test_a_port_in_use_is_a_named_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server((HOST, 0)) as used, pytest.raises(N6Error, match="N6-PROBE-002"):
        serve(["--front", "pyocd", "--port", str(used.getsockname()[1])])
