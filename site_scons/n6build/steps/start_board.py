"""Step of mode=no-run: starts the programs in flash without reading the console."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import to_json, write_atomically
from n6build.board.flash.probe_programmer import ProbeProgrammer
from n6build.board.flash.probes import chosen_programmer
from n6build.board.flash.program import board_lock
from n6build.board.flash.programmer import Programmer, RamProgram
from n6build.board.flash.receipt import VIRTUAL
from n6build.describe.hardware.board import Board
from n6build.engine.step import Call, Step
from n6build.place.image.elf_reader import payload_of
from n6build.steps.board_files import board_as_chosen
from n6build.steps.flash_board import Target, board_step


def start_board_step(output: str, receipts: Sequence[str], fsbl: str, board: Board, target: Target) -> Step:
    """Return the step that starts the board.

    Args:
        output: Note of the started board and probe.
        receipts: Receipts of the programmed board.
        fsbl: ELF file of the FSBL; empty if it is not available.
        board: Board to start.
        target: Board and programmer.

    Raises:
        N6Error: N6-OPTION-014 if start=ram has no ELF file of the FSBL.
    """
    if target.start == "ram" and not fsbl:
        raise no_elf()
    function = "n6build.steps.start_board:perform_start_board"
    sources = (*([fsbl] if fsbl else []), *receipts)
    step = board_step("Start", "run", function, (output,), sources, board, target)
    return replace(step, always=True, quiet=True)


def no_elf() -> N6Error:
    """Return the error for a start from RAM without a program to load."""
    what = "'start=ram' loads the FSBL from its ELF file, which is missing"
    return N6Error("N6-OPTION-014", what, hint="fsbl=FILE.elf")


def perform_start_board(call: Call) -> None:
    """Start the board and write the note; a virtual board only runs during a session."""
    target = call.parameters_as(Target)
    board = board_as_chosen(Path(target.file), target.board)
    if target.probe == VIRTUAL:
        say("Ready", f"{board.name} (virtual)", "it only runs during target run; mode=no-run")
    else:
        programmer = chosen_programmer(target.probe, board, Path(target.virtual_board))
        with board_lock(programmer):
            # Without an ELF file, the first source is a receipt. It is not used, because the board then starts from flash.
            begin(programmer, target.start, call.sources[0])
        say("Started", f"{board.name} ({programmer.name})", "no inference: mode=no-run")
    write_atomically(call.outputs[0], to_json({"board": board.name, "probe": target.name}))


def begin(programmer: Programmer, start: Literal["flash", "ram"], fsbl: Path) -> None:
    """Start the board by a reset, or by the debugger.

    With its boot selectors set for programming, the boot ROM does not start the board.
    """
    if start == "ram":
        payload = payload_of(fsbl)
        cast(ProbeProgrammer, programmer).start(RamProgram(payload.address, payload.data))
    else:
        programmer.reset()
