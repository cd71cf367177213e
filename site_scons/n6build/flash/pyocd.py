"""pyOCD, as a command: its documentation names the command for programming and the library for tests that control a target.

Facts used, tried with 0.46: `pyocd json --probes` lists 'boards' with 'unique_id' and 'board_name'; `load` takes several files as
<file>@<address> and ends with 1 after a failure; `commander` has savemem and read32. The NOR needs a flash algorithm for its
window in the target's pack; no public one is known.
"""

from __future__ import annotations

import json
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
    ram_file,
    read_timeout_s,
    run_programmer,
    running,
)
from n6build.flash.programmer import Identity, RamProgram
from n6build.flash.sectors import Sector

COMMAND = "pyocd"
# A guess, no board was at hand.
_SECONDS_A_SECTOR = 1.5


def attached_probes(command: Path) -> dict[str, str]:
    """Unique id -> board or probe, of all that pyOCD sees."""
    said = run_programmer(command, ["json", "--probes"], LIST_TIMEOUT_S)
    try:
        boards = json.loads(said.output[said.output.index("{") :])["boards"]
        return {str(each["unique_id"]): str(each["board_name"]) for each in boards}
    except (ValueError, KeyError, TypeError) as error:
        raise N6Error(
            "N6-FLASH-007", "the list of probes is not JSON as pyOCD 0.46 writes it", where=COMMAND
        ) from error


@dataclass(frozen=True)
class PyOcd(CommandProgrammer):
    seconds_a_sector = _SECONDS_A_SECTOR

    def identify(self) -> Identity:
        idcode = self.board.soc.peripherals["DBGMCU"].base
        said = self._commander([f"read32 0x{idcode:08X}"], LIST_TIMEOUT_S, "N6-FLASH-016", "connecting")
        return self._identity(said, rf"^{idcode:08x}:\s+([0-9a-f]{{8}})")

    def _fetch(self, files: Sequence[tuple[Span, Path]]) -> None:
        commands = [f"savemem 0x{span.address:08X} {span.size} {path}" for span, path in files]
        timeout_s = read_timeout_s(span.size for span, _ in files)
        self._commander(commands, timeout_s, "N6-FLASH-008", "reading")

    def program(self, sectors: Sequence[Sector]) -> None:
        with image_files(sectors) as files:
            images = [f"{path}@0x{address:08X}" for address, path in files]
            arguments = ["load", *self._connection(), "--erase", "sector", "--no-reset", "--format", "bin", *images]
            timeout_s = program_timeout_s(len(sectors), self.seconds_a_sector)
            said = run_programmer(self.command, arguments, timeout_s)
        if said.failed:
            raise self._failure("N6-FLASH-006", "programming", said)

    def reset(self) -> None:
        said = run_programmer(self.command, ["reset", *self._connection()], LIST_TIMEOUT_S)
        if said.failed:
            raise self._failure("N6-FLASH-009", "the reset", said, "", running(self.board))

    def start(self, program: RamProgram) -> None:
        with ram_file(program) as path:
            load = f"loadmem 0x{program.address:08X} {path}"
            registers = [f"wreg sp 0x{program.stack_pointer:08X}", f"wreg pc 0x{program.entry:08X}"]
            self._commander(["halt", load, *registers, "continue"], LIST_TIMEOUT_S, "N6-FLASH-009", "the start")

    def _commander(self, commands: Sequence[str], timeout_s: int, code: str, doing: str) -> Said:
        arguments = [argument for command in commands for argument in ("-c", command)]
        said = run_programmer(self.command, ["commander", *self._connection(), *arguments], timeout_s)
        if said.failed:
            raise self._failure(code, doing, said)
        return said

    def _connection(self) -> list[str]:
        # --no-wait: a probe that is gone is an error, not a reason to wait for it.
        return ["--no-wait", "--uid", self.name, "--target", self.board.programmer.pyocd_target]
