"""Debugging on a real board with the GDB server of its programmer."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.board.flash.command_line import Attached, DebugServer, Said
from n6build.board.flash.probe_programmer import ProbeProgrammer

# Seconds until the server has found the board.
_READY_S = 60
PORT = 3333
# Lines of the server's output that are kept for a message.
_LAST_LINES = 50


def serve_debugger(programmer: ProbeProgrammer, port: int, when_ready: Callable[[], None]) -> None:
    """Run the server for GDB until GDB disconnects.

    Args:
        programmer: Programmer of the board.
        port: Port of this computer for GDB.
        when_ready: Called when GDB may connect.

    Raises:
        N6Error: N6-DEBUG-001 if n6build knows no server of the programmer; N6-DEBUG-002 if the server is not
            installed; N6-DEBUG-003 if it does not get ready.
    """
    server = programmer.kind.debug
    if server is None:
        what = f"n6build starts no GDB server of {programmer.kind.name}"
        raise N6Error("N6-DEBUG-001", what, hint="use another programmer: probe=openocd")
    command = _installed(server, programmer.command)
    with tempfile.TemporaryDirectory() as folder:
        arguments = server.arguments(
            Attached(programmer.command, programmer.name, programmer.board, Path(folder)), port
        )
        _serve([str(command), *arguments], server, programmer.name, when_ready)


def _installed(server: DebugServer, programmer: Path) -> Path:
    """Return the path of the server; one beside the programmer has the same release."""
    folders = [programmer.resolve().parent, *(programmer.resolve().parent / folder for folder in server.folders)]
    for folder in folders:
        if found := shutil.which(server.command, path=str(folder)):
            return Path(found)
    if found := shutil.which(server.command):
        return Path(found)
    what = f"{server.command} is neither in PATH nor beside {programmer.name}"
    hint = "install STM32CubeCLT or STM32CubeIDE, which contain it, or use another programmer: probe=openocd"
    raise N6Error("N6-DEBUG-002", what, hint=hint)


def _serve(command: Sequence[str], server: DebugServer, serial: str, when_ready: Callable[[], None]) -> None:
    lines: list[str] = []
    ready = False
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise N6Error("N6-DEBUG-003", f"cannot be run: {error.strerror}", where=server.command) from error
    too_late = threading.Timer(_READY_S, process.kill)
    too_late.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            lines = [*lines[1 - _LAST_LINES :], line]
            if ready:
                say("Server", line.rstrip())
            elif server.ready in line:
                ready = True
                too_late.cancel()
                when_ready()
        status = process.wait()
    finally:
        too_late.cancel()
        process.kill()
        process.wait()
    if not ready:
        said = Said("".join(lines), status)
        what = f"the GDB server did not start: {said.complaint('it ended without an error')}"
        hint = f"close other programs that use port {PORT} or the probe"
        raise N6Error("N6-DEBUG-003", what, where=f"probe {serial}", hint=hint)
