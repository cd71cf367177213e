"""Step of gdb=1 on a real board: starts the board and a server for GDB.

The server is that of the board's programmer.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.console import say
from n6build.base.files import to_json, write_atomically
from n6build.board.flash.debug import PORT, serve_debugger
from n6build.board.flash.probe_programmer import ProbeProgrammer
from n6build.board.flash.program import board_lock
from n6build.describe.hardware.blocks import FILE, gdb_registers
from n6build.describe.hardware.board import Board
from n6build.engine.step import Call, Step
from n6build.steps.flash_board import Target, board_step
from n6build.steps.start_board import begin, no_elf


@dataclass(frozen=True)
class DebugBoardParameters:
    """Parameters of the step.

    Attributes:
        target: Board and programmer.
        elves: Number of ELF files, which are the first sources, FSBL first.
    """

    target: Target
    elves: int


def debug_board_step(
    output: str, receipts: Sequence[str], elves: Mapping[str, str], board: Board, target: Target
) -> Step:
    """Return the step that starts the board under a debugger.

    Args:
        output: Note of the started board and probe. The registers' names for GDB are beside it.
        receipts: Receipts of the programmed board.
        elves: Available ELF files by name, FSBL first.
        board: Board of the run.
        target: Board and programmer.

    Raises:
        N6Error: N6-OPTION-014 if start=ram has no ELF file of the FSBL.
    """
    if target.start == "ram" and "FSBL" not in elves:
        raise no_elf()
    function = "n6build.steps.debug_board:perform_debug_board"
    outputs, sources = (output, str(Path(output).with_name(FILE))), (*elves.values(), *receipts)
    parameters = DebugBoardParameters(target, len(elves))
    step = board_step("Debug", "run", function, outputs, sources, board, target, parameters)
    return replace(step, always=True, quiet=True)


def perform_debug_board(call: Call) -> None:
    """Serve GDB until it disconnects.

    Raises:
        N6Error: N6-DEBUG-00x if GDB cannot be served; N6-FLASH-009 if the board does not start.
    """
    given = call.parameters_as(DebugBoardParameters)
    board, programmer = given.target.opened()
    assert isinstance(programmer, ProbeProgrammer)
    elves = call.sources[: given.elves]
    note, registers = call.outputs
    write_atomically(registers, gdb_registers(board.soc))
    with board_lock(programmer):
        begin(programmer, given.target.start, call.sources[0])
        serve_debugger(programmer, PORT, lambda: _say(programmer, elves, registers))
    write_atomically(note, to_json({"board": board.name, "probe": given.target.name}))


def _say(programmer: ProbeProgrammer, elves: Sequence[Path], registers: Path) -> None:
    say("Waiting", f"for GDB on port {PORT}", f"{programmer.board.name} is halted; Ctrl-C ends it")
    say("Debugger", gdb_command([str(path) for path in elves], str(registers)))


def gdb_command(elves: Sequence[str], registers: str) -> str:
    """Return the command line that starts GDB, for a terminal.

    Args:
        elves: ELF files; the last one is the program, and the others run before it on the board.
        registers: File with the registers' names.
    """
    arguments = ["arm-none-eabi-gdb", "-ex", f"target extended-remote localhost:{PORT}", "-x", registers]
    for other in elves[:-1]:
        arguments += ["-ex", f'add-symbol-file "{other}"']
    return shlex.join([*arguments, *elves[-1:]])
