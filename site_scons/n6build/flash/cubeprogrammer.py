"""ST's STM32_Programmer_CLI: finds ST-LINK probes and programs sectors through the board's external loader.

Facts used: `-l st-link` lists probes as 'ST-LINK SN  : <serial>'; a download that worked says 'File download complete', with
-v 'Download verified successfully'; a failure shows as a line 'Error: ...', sometimes with exit status 0.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_state_path

from n6build.captured import run_captured
from n6build.errors import N6Error
from n6build.flash.sectors import Sector

COMMAND = "STM32_Programmer_CLI"
_LIST_TIMEOUT_S = 20
_PROGRAM_TIMEOUT_S = 600
# 64 KB over SWD at 8 MHz with an erase of the NOR: a guess, no board was at hand.
_SECONDS_A_SECTOR = 0.8
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def records_folder() -> Path:
    """Of the real boards that this user has programmed."""
    return user_state_path("n6build") / "boards"


def find_command() -> Path | None:
    found = shutil.which(COMMAND)
    return Path(found) if found else None


def attached_probes(command: Path) -> list[str]:
    """Serial numbers of all attached ST-LINK probes."""
    output, _ = _run(command, ["-l", "st-link"], _LIST_TIMEOUT_S)
    return sorted(set(re.findall(r"ST-LINK SN\s*:\s*(\S+)", output)))


@dataclass(frozen=True)
class CubeProgrammer:
    """external_loader: file name in the programmer's ExternalLoader folder. dev_boot, flash_boot: how the board's selectors must
    stand, for programming and for running."""

    command: Path
    name: str
    external_loader: str
    dev_boot: str
    flash_boot: str = ""
    seconds_a_sector: float = _SECONDS_A_SECTOR

    def record_path(self) -> Path:
        return records_folder() / f"{self.name}.json"

    def still_holds(self) -> bool:
        return True

    def read(self, address: int, size: int) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{address:08x}.bin"
            arguments = [*self._connection(), "-r", f"0x{address:08X}", str(size), str(path)]
            output, status = _run(self.command, arguments, _PROGRAM_TIMEOUT_S)
            data = path.read_bytes() if path.is_file() else b""
        errors = _errors(output)
        if status or errors or len(data) != size:
            what = errors[0] if errors else f"exit status {status}, {len(data)} of {size} bytes"
            hint = f"boot selectors for programming: {self.dev_boot}"
            raise N6Error("N6-FLASH-008", f"reading failed: {what}", where=f"probe {self.name}", hint=hint)
        return data

    def reset(self) -> None:
        arguments = ["-c", "port=SWD", "mode=HOTPLUG", "ap=1", f"sn={self.name}", "-hardRst"]
        output, status = _run(self.command, arguments, _LIST_TIMEOUT_S)
        errors = _errors(output)
        if status or errors or "Hard reset is performed" not in output:
            what = errors[0] if errors else f"exit status {status}, no word of a reset"
            hint = f"boot selectors for running: {self.flash_boot}"
            raise N6Error("N6-FLASH-009", f"the board was not reset: {what}", where=f"probe {self.name}", hint=hint)

    def _connection(self) -> list[str]:
        loader = self.command.resolve().parent / "ExternalLoader" / self.external_loader
        if not loader.is_file():
            raise N6Error(
                "N6-FLASH-005", f"no external loader '{self.external_loader}' beside {COMMAND}", where=COMMAND
            )
        return ["-c", "port=SWD", "mode=HOTPLUG", "ap=1", f"sn={self.name}", "-el", str(loader)]

    def program(self, sectors: Sequence[Sector]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            arguments = self._connection()
            for run in _contiguous(sectors):
                path = Path(folder) / f"{run[0].address:08x}.bin"
                path.write_bytes(b"".join(sector.data for sector in run))
                arguments += ["-w", str(path), f"0x{run[0].address:08X}", "-v"]
            output, status = _run(self.command, arguments, _PROGRAM_TIMEOUT_S)
        errors = _errors(output)
        verified = output.count("Download verified successfully")
        if status or errors or verified < len(_contiguous(sectors)):
            what = errors[0] if errors else f"exit status {status}, {verified} parts verified"
            raise N6Error(
                "N6-FLASH-006",
                f"programming failed: {what}",
                where=f"probe {self.name}",
                hint=f"boot selectors for programming: {self.dev_boot}",
            )


def _errors(output: str) -> list[str]:
    lines = (line.strip() for line in output.splitlines())
    return [line.removeprefix("Error:").strip() for line in lines if line.startswith("Error:")]


def _contiguous(sectors: Sequence[Sector]) -> list[list[Sector]]:
    runs: list[list[Sector]] = []
    for sector in sectors:
        if runs and runs[-1][-1].address + len(runs[-1][-1].data) == sector.address:
            runs[-1].append(sector)
        else:
            runs.append([sector])
    return runs


def _run(command: Path, arguments: list[str], timeout_s: int) -> tuple[str, int]:
    try:
        status, output = run_captured([command, *arguments], timeout_s)
    except subprocess.TimeoutExpired as error:
        raise N6Error(
            "N6-FLASH-007", f"no answer within {timeout_s} s", where=COMMAND, hint="unplug and plug the probe"
        ) from error
    except OSError as error:
        raise N6Error("N6-FLASH-007", f"cannot be run: {error.strerror}", where=COMMAND) from error
    return _ANSI.sub("", output), status
