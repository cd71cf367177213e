"""A probe server as users start it, and debuggers that are not part of n6build."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from io import BufferedRWPair
from pathlib import Path
from typing import Any

import pytest
from build_grid import SERVERS
from called import shared_caches
from n6build.base.paths import ROOT
from n6build.board.probe.server import HOST
from patience import NET_S, wait_until


@dataclass
class Server:
    """A server that runs.

    Attributes:
        folder: Folder that it was started in.
        ports: TCP ports of pyOCD and of OpenOCD.
        lines: What it has printed.
    """

    folder: Path
    board: str
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    @property
    def of_board(self) -> Path:
        """Return the folder with the board's files."""
        return self.folder / "build" / "probe_server" / self.board

    @property
    def nor(self) -> bytes:
        """Return the content of the board's NOR."""
        return (self.of_board / "nor.bin").read_bytes()

    @property
    def pyocd_port(self) -> int:
        """Return the TCP port for pyOCD."""
        found = re.search(r"remote:127\.0\.0\.1:(\d+)", "\n".join(self.lines))
        assert found
        return int(found[1])

    @property
    def openocd_port(self) -> int:
        """Return the TCP port for OpenOCD."""
        found = re.search(r"remote_bitbang port (\d+)", (self.of_board / "openocd.cfg").read_text())
        assert found
        return int(found[1])


@contextmanager
def probe_server(
    folder: Path,
    board: str = "nucleo-n657",
    *more: str,
    ends_with: signal.Signals = signal.SIGTERM,
    script: Sequence[str] = (),
) -> Iterator[Server]:
    """Start `n6build probe-server`, and end it.

    Ctrl-C does not end a job that a shell has started in the background, nor its children, so that tests use SIGTERM.

    Args:
        script: A command that takes the words behind `n6build probe-server`, to run in its place.
    """
    folder.mkdir(parents=True, exist_ok=True)
    called = script or (sys.executable, "-m", "n6build", "probe-server")
    command = [*called, "--board", board, "--port", "0", *more]
    environment = {
        "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "site_scons"), "HOME": str(folder), **shared_caches()
    }  # fmt: skip
    with subprocess.Popen(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        server = Server(folder, board, process)
        assert process.stdout is not None
        stream = process.stdout
        reader = threading.Thread(target=lambda: server.lines.extend(line.rstrip() for line in stream))
        reader.start()
        try:
            wait_until(lambda: any("openocd -f" in line for line in server.lines), process)
            yield server
        finally:
            if process.poll() is None:
                process.send_signal(ends_with)
            process.wait(NET_S)
            reader.join(NET_S)


class RemotePort:
    """A debug port over the protocol of pyOCD."""

    def __init__(self, stream: BufferedRWPair) -> None:
        self._stream = stream

    def read_dp(self, register: int) -> int:
        return int(self._ask("read_dp", register))

    def write_dp(self, register: int, value: int) -> None:
        self._ask("write_dp", register, value)

    def read_ap(self, register: int, count: int = 1) -> list[int]:
        return [int(word) for word in self._ask("read_ap_multiple", register, count)]

    def write_ap(self, register: int, values: Sequence[int]) -> None:
        self._ask("write_ap_multiple", register, [*values])

    def _ask(self, request: str, *arguments: object) -> Any:
        self._stream.write(json.dumps({"id": 0, "request": request, "arguments": arguments}).encode() + b"\n")
        self._stream.flush()
        answer = json.loads(self._stream.readline())
        assert answer["status"] == 0, answer
        return answer.get("result")


@contextmanager
def remote_port(server: Server) -> Iterator[RemotePort]:
    """Connect to a server as pyOCD does."""
    with socket.create_connection((HOST, server.pyocd_port), NET_S) as channel, channel.makefile("rwb") as stream:
        port = RemotePort(stream)
        port._ask("hello", 1)
        wait_until(lambda: _is_opened(port))
        yield port


def _is_opened(port: RemotePort) -> bool:
    """Return whether the debugger before has gone."""
    try:
        port._ask("open")
    except AssertionError:
        return False
    return True


def pyocd() -> Path:
    """Return pyOCD; `make setup-tests` installs it."""
    installed = SERVERS / "pyocd"
    found = str(installed) if installed.is_file() else shutil.which("pyocd")
    if found is None:
        pytest.skip("pyOCD is not installed: make setup-tests does it")
    return Path(found)


def openocd(transport: str = "jtag") -> Path:
    """Return OpenOCD, which a system may have, if it has the transport."""
    found = shutil.which("openocd")
    if found is None:
        pytest.skip("OpenOCD is not installed: apt-get install openocd")
    if not _has_transport(found, transport):
        pytest.skip("remote_bitbang of OpenOCD 0.12.0 has no SWD: builds since December 2023 have it")
    return Path(found)


@cache
def _has_transport(command: str, transport: str) -> bool:
    """Return whether the driver remote_bitbang of this OpenOCD has a transport."""
    words = ("adapter driver remote_bitbang", f"transport select {transport}", "shutdown")
    called = [command, *(word for each in words for word in ("-c", each))]
    return not subprocess.run(called, capture_output=True, check=False).returncode


def run_tool(command: Sequence[str | Path], folder: Path, fails: bool = False) -> str:
    """Return the output of a debugger that works, or fails.

    OpenOCD takes no SIGTERM while it waits for an adapter, so that a time limit kills it.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=NET_S,
        check=False,
    )
    assert bool(done.returncode) == fails, done.stdout
    return done.stdout
