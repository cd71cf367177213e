"""ST's STM32_Programmer_CLI: finds ST-LINK probes and programs sectors through the board's external loader.

Facts used: `-l st-link` lists probes as 'ST-LINK SN  : <serial>'; every connection prints 'Board' and 'Device ID'; a download
that worked says 'File download complete'; a failure shows as a line 'Error: ...', sometimes with exit status 0; an external
loader that is left out can go unnoticed. Several -w are accepted in a command; several -r are tried.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.flash.command import (
    LIST_TIMEOUT_S,
    CommandProgrammer,
    Said,
    image_files,
    program_timeout_s,
    programming,
    ram_file,
    read_timeout_s,
    run_programmer,
    running,
)
from n6build.flash.programmer import Identity, RamProgram
from n6build.flash.sectors import Sector

COMMAND = "STM32_Programmer_CLI"
# This release cannot erase the NOR of the Nucleo.
_CANNOT_ERASE = "v2.20."
# 64 KB over SWD at 8 MHz with an erase of the NOR: a guess, no board was at hand.
_SECONDS_A_SECTOR = 0.8


def attached_probes(command: Path) -> dict[str, str]:
    """Serial number -> board, as far as it is printed, of all attached ST-LINK probes."""
    said = run_programmer(command, ["-l", "st-link"], LIST_TIMEOUT_S)
    probes: dict[str, str] = {}
    serial = ""
    for line in said.output.splitlines():
        if match := re.search(r"ST-LINK SN\s*:\s*(\w+)", line):
            serial = match[1]
            probes.setdefault(serial, "")
        elif serial and (match := re.search(r"Board(?: Name)?\s*:\s*(\S+)", line)):
            probes[serial] = match[1]
    return probes


@dataclass(frozen=True)
class CubeProgrammer(CommandProgrammer):
    seconds_a_sector = _SECONDS_A_SECTOR

    def identify(self) -> Identity:
        said = run_programmer(self.command, self._connection(), LIST_TIMEOUT_S)
        device = re.search(r"Device ID\s*:\s*0x([0-9A-Fa-f]+)", said.output)
        if said.failed or device is None:
            raise self._failure("N6-FLASH-016", "connecting", said, "no device id")
        named = re.search(r"^Board\s*:\s*(\S+)", said.output, re.MULTILINE)
        return Identity(named[1] if named and named[1].strip("-") else "", int(device[1], 16))

    def _fetch(self, files: Sequence[tuple[Span, Path]]) -> None:
        parts = [["-r", f"0x{span.address:08X}", str(span.size), str(path)] for span, path in files]
        timeout_s = read_timeout_s(span.size for span, _ in files)
        self._read([argument for part in parts for argument in part], timeout_s)
        for part, (_, path) in zip(parts, files, strict=True):
            # A release that carries out one -r only.
            if not path.is_file():
                self._read(part, timeout_s)

    def _read(self, arguments: list[str], timeout_s: int) -> None:
        said = run_programmer(self.command, [*self._with_loader(), *arguments], timeout_s)
        if said.failed:
            raise self._failure("N6-FLASH-008", "reading", said)

    def program(self, sectors: Sequence[Sector]) -> None:
        """Without the tool's own -v: it is as slow as reading back, and it has been seen to say yes after an error."""
        with image_files(sectors) as files:
            arguments = self._with_loader()
            for address, path in files:
                arguments += ["-w", str(path), f"0x{address:08X}"]
            timeout_s = program_timeout_s(len(sectors), self.seconds_a_sector)
            said = run_programmer(self.command, arguments, timeout_s)
        complete = said.output.count("File download complete")
        if said.failed or complete < len(files):
            otherwise = f"{complete} of {len(files)} parts complete"
            raise self._failure("N6-FLASH-006", "programming", said, otherwise, self._erase_hint(said))

    def _erase_hint(self, said: Said) -> str:
        if _CANNOT_ERASE in said.output and "erase" in said.output:
            return f"{COMMAND} 2.20 cannot erase the NOR of this board: take 2.19, or 2.21 and newer"
        return programming(self.board)

    def reset(self) -> None:
        said = run_programmer(self.command, [*self._connection(), "-hardRst"], LIST_TIMEOUT_S)
        if said.failed or "Hard reset is performed" not in said.output:
            raise self._failure("N6-FLASH-009", "the reset", said, "no word of it", running(self.board))

    def start(self, program: RamProgram) -> None:
        """-s takes the address of a vector table: as far as is known; no board was at hand."""
        with ram_file(program) as path:
            address = f"0x{program.address:08X}"
            arguments = [*self._connection(), "-halt", "-w", str(path), address, "-s", address]
            said = run_programmer(self.command, arguments, LIST_TIMEOUT_S)
        if said.failed or "Start operation achieved successfully" not in said.output:
            raise self._failure("N6-FLASH-009", "the start", said, "no word of it")

    def _connection(self) -> list[str]:
        return ["-c", "port=SWD", "mode=HOTPLUG", "ap=1", f"sn={self.name}"]

    def _with_loader(self) -> list[str]:
        name = self.board.programmer.external_loader
        loader = self.command.resolve().parent / "ExternalLoader" / name
        if not loader.is_file():
            raise N6Error("N6-FLASH-005", f"no external loader '{name}' beside {COMMAND}", where=COMMAND)
        return [*self._connection(), "-el", str(loader)]
