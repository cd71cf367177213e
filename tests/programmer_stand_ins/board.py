"""The board of the fake programmers, with a file as its flash.

Each step of an access can be made to fail.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

TESTS = Path(__file__).resolve().parents[1]
BASE = 0x7000_0000

# error: the program reports it and ends with 1. zero: it reports it and ends with 0. killed: it ends without a message.
# ignored: from here on it does nothing and reports success. hangs: it waits for a probe that does not answer.
FaultKind = Literal["error", "zero", "killed", "ignored", "hangs"]


@dataclass(frozen=True)
class Settings:
    """Settings of a board.

    Attributes:
        probes: Boards by the serial number of their probe.
        erase: Bytes that one erase covers.
        one_read: True if only the first read of a call is carried out.
        on_reset: Command line that a reset runs.
        on_start: Command line that a start in RAM runs, for ram.bin in the board's folder.
    """

    probes: Mapping[str, str] = field(default_factory=lambda: {"0041": "NUCLEO-N657X0-Q"})
    device_id: int = 0x486
    jedec_id: int = 0xC2803A
    version: str = "2.19.0"
    size: int = 1 << 20
    erase: int = 4096
    one_read: bool = False
    on_reset: tuple[str, ...] = ()
    on_start: tuple[str, ...] = ()


class Fault(Exception):
    """A failing access.

    Attributes:
        kind: Reaction of the program.
    """

    def __init__(self, kind: FaultKind) -> None:
        super().__init__(kind)
        self.kind = kind


class Board:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = Settings(**json.loads((folder / "settings.json").read_text()))
        self._ignores = False

    @property
    def nor(self) -> Path:
        return self.folder / "nor.bin"

    def operation(self) -> None:
        """Count an access, over all calls, and fail if it is the one to fail."""
        counter = self.folder / "operations"
        number = int(counter.read_text()) if counter.is_file() else 0
        counter.write_text(str(number + 1))
        with contextlib.suppress(OSError):
            fault = json.loads((self.folder / "fault.json").read_text())
            if fault["at"] == number:
                if fault["kind"] == "killed":
                    os.kill(os.getpid(), signal.SIGKILL)
                if fault["kind"] == "hangs":
                    (self.folder / "hangs").touch()
                    time.sleep(3600)
                if fault["kind"] == "ignored":
                    self._ignores = True
                else:
                    raise Fault(fault["kind"])

    def connect(self, serial: str) -> bool:
        """Return whether the probe is there."""
        self.operation()
        return serial in self.settings.probes

    def program(self, address: int, data: bytes) -> None:
        """Erase whole blocks, then write; each takes two steps."""
        erase = self.settings.erase
        first, last = address // erase * erase, -(-(address + len(data)) // erase) * erase
        for start in range(first, last, erase):
            self.operation()
            self._write(start, b"\xff" * erase)
        for start in range(0, len(data), erase // 2):
            self.operation()
            self._write(address + start, data[start : start + erase // 2])

    def load(self, address: int, data: bytes) -> None:
        """Load data into RAM."""
        self.operation()
        (self.folder / "ram.bin").write_bytes(data)
        (self.folder / "ram.address").write_text(hex(address))

    def begin(self, command: Sequence[str]) -> None:
        self.operation()
        if command:
            subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def read(self, address: int, size: int) -> bytes:
        self.operation()
        with self.nor.open("rb") as file:
            file.seek(address - BASE)
            return file.read(size)

    def holds(self, address: int, data: bytes) -> bool:
        return self.read(address, len(data)) == data or self._ignores

    def _write(self, address: int, data: bytes) -> None:
        if self._ignores:
            return
        with self.nor.open("r+b") as file:
            file.seek(address - BASE)
            file.write(data)


@dataclass(frozen=True)
class Desk:
    """The board's folder, and the folder of programs that reach it, for tests."""

    folder: Path
    commands: Path

    def fail(self, at: int, kind: FaultKind) -> None:
        """Let the access with this number, counted from now, fail."""
        (self.folder / "operations").write_text("0")
        (self.folder / "fault.json").write_text(json.dumps({"at": at, "kind": kind}))

    def work(self) -> None:
        (self.folder / "fault.json").unlink(missing_ok=True)

    def operations(self) -> int:
        counter = self.folder / "operations"
        return int(counter.read_text()) if counter.is_file() else 0

    def set(self, settings: Settings) -> None:
        (self.folder / "settings.json").write_text(json.dumps(asdict(settings)))

    def calls(self) -> list[str]:
        return (self.commands / "calls").read_text().splitlines()

    def content(self, address: int, size: int) -> bytes:
        with (self.folder / "nor.bin").open("rb") as file:
            file.seek(address - BASE)
            return file.read(size)

    def overwrite(self, address: int, data: bytes) -> None:
        """Overwrite flash like a program that keeps no record of n6build's."""
        with (self.folder / "nor.bin").open("r+b") as file:
            file.seek(address - BASE)
            file.write(data)


def make_desk(folder: Path, settings: Settings, *programmers: str) -> Desk:
    """Make a board with these programmers.

    Each is the module of its name beside this one, with '_' for '-'.
    """
    from n6build.board.flash.probes import PROGRAMMERS  # The fake programmers themselves do not use n6build.

    desk = Desk(folder / "board", folder / "bin")
    desk.folder.mkdir(parents=True)
    desk.commands.mkdir()
    desk.set(settings)
    (desk.folder / "nor.bin").write_bytes(b"\xff" * settings.size)
    executables = {PROGRAMMERS[name].command: name for name in programmers}
    if "stm32cubeprogrammer" in programmers:
        executables["ST-LINK_gdbserver"] = "st_link_gdbserver"
    for called, name in executables.items():
        command = desk.commands / called
        command.write_text(
            f"#!{sys.executable} -IS\n"
            "import sys\n"
            f"sys.path.insert(0, {str(TESTS)!r})\n"
            "from pathlib import Path\n"
            f"from programmer_stand_ins.{name.replace('-', '_')} import main\n"
            f"with open({str(desk.commands / 'calls')!r}, 'a') as calls:\n"
            f"    calls.write({called!r} + ' ' + ' '.join(sys.argv[1:]) + '\\n')\n"
            f"sys.exit(main(Path({str(desk.folder)!r}), sys.argv[1:]))\n"
        )
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
    loaders = desk.commands / "ExternalLoader"
    loaders.mkdir()
    for loader in ("MX25UM51245G_STM32N6570-NUCLEO.stldr", "MX66UW1G45G_STM32N6570-DK.stldr"):
        (loaders / loader).touch()
    return desk
