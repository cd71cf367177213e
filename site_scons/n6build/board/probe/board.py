"""The virtual board with a debug port: its emulator, switched on for debuggers."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.board.probe.debug_port import VirtualDebugPort
from n6build.board.probe.machine import PATIENCE_S, BoardGone, MachineChannel
from n6build.board.virtual_board.run import UNLIMITED, NorBoot, nor_command
from n6build.describe.hardware.debug_port import DebugPort, read_debug_port

_ENDS_S = 5.0
_LONGEST_LINE = 1 << 12


@dataclass
class ProbedBoard:
    """A virtual board that runs.

    Attributes:
        port: Its debug port.
        process: The emulator.
    """

    port: VirtualDebugPort
    process: subprocess.Popen[bytes]
    _line: bytes = b""

    def show_console(self) -> bool:
        """Print what the board's console has sent; return false at its end."""
        assert self.process.stdout is not None
        more = os.read(self.process.stdout.fileno(), 1 << 16)
        *lines, self._line = (self._line + more).split(b"\n")
        if len(self._line) > _LONGEST_LINE or not more:
            lines, self._line = [*lines, self._line], b""
        for line in lines:
            if text := line.decode(errors="replace").rstrip("\r"):
                say("Console", text)
        return bool(more)

    def ended(self) -> N6Error:
        """Return N6-PROBE-003 with the last words of an emulator that ended."""
        assert self.process.stderr is not None
        self.process.wait(_ENDS_S)
        said = self.process.stderr.read().decode(errors="replace").strip().splitlines()
        return BoardGone(said[-1] if said else f"status {self.process.returncode}")


@contextmanager
def probed_board(
    emulator: Path, boot: NorBoot, findings: Path, described: DebugPort | None = None
) -> Iterator[ProbedBoard]:
    """Switch a board on, and off at the end.

    Args:
        findings: File for findings about programs, which the emulator writes.
        described: Debug port; None for the chip's own.

    Raises:
        N6Error: N6-PROBE-001 if the emulator does not start.
    """
    described = described or read_debug_port()
    # The path of a socket has at most a hundred characters.
    with tempfile.TemporaryDirectory(prefix="n6probe-") as folder, socket.socket(socket.AF_UNIX) as listener:
        place = str(Path(folder) / "channel")
        listener.bind(place)
        listener.listen(1)
        listener.settimeout(0.1)
        command = nor_command(emulator, boot, findings, "stdio", UNLIMITED)
        machine = command.index("-M") + 1
        command[machine] += ",probe=probe"
        command += ["-S", "-gdb", "none", "-chardev", f"socket,id=probe,path={place}"]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        ) as process:
            try:
                with _connected(listener, process) as channel:
                    machine_channel = MachineChannel(channel)
                    try:
                        machine_channel.pace(described.transfer_us, described.opens_us)
                        machine_channel.run()
                    except BoardGone as error:
                        raise _no_start(process) from error
                    yield ProbedBoard(VirtualDebugPort(machine_channel, described, boot.board.soc), process)
            finally:
                _end(process)


def _connected(listener: socket.socket, process: subprocess.Popen[bytes]) -> socket.socket:
    for _ in range(int(PATIENCE_S / 0.1)):
        with contextlib.suppress(TimeoutError):
            return listener.accept()[0]
        if process.poll() is not None:
            break
    raise _no_start(process)


def _no_start(process: subprocess.Popen[bytes]) -> N6Error:
    """Return N6-PROBE-001 with the first words of an emulator, which is ended."""
    _end(process)
    said = process.stderr.read().decode(errors="replace") if process.stderr else ""
    reason = next((line for line in said.splitlines() if line.strip()), "no message")
    return N6Error(
        "N6-PROBE-001",
        f"the virtual board does not start: {reason}",
        hint="use --boot development, or --nor with a file that holds an FSBL",
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the emulator; its channel is closed, so that it ends by itself."""
    try:
        process.wait(_ENDS_S)
    except subprocess.TimeoutExpired:
        process.kill()
