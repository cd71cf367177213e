"""Steps that ask a board and write down what it says, whatever comes of it: a field report, and the ladder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from n6build.flash.program import board_lock
from n6build.flash.programmer import Programmer
from n6build.flash.receipt import VIRTUAL
from n6build.hardware.board import Board
from n6build.plan.step import Step, to_parameters
from n6build.run.linked_session import (
    After,
    LinkedNetwork,
    console_of,
    go_on,
    run_on_linked_virtual_board,
    run_on_real_board,
)
from n6build.run.session import Outcome
from n6build.steps.board import boards_folders
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.emulator import emulator_files, emulator_templates, switched_on
from n6build.steps.flash_board import Target
from n6build.steps.run_board import NetworkOnBoard
from n6build.steps.start_board import begin, no_elf


def asking_step(
    verb: str,
    function: str,
    file: str,
    receipts: Sequence[str],
    networks: Sequence[tuple[NetworkSteps, NetworkOnBoard]],
    elves: Mapping[str, str],
    board: Board,
    target: Target,
    parameters: object,
) -> Step:
    """file: that `function` writes, also where it then raises, in a folder for nothing but what boards have said. networks: as
    they are made, and as they are run. elves: at hand, by name; the first sources. Raises N6-OPTION-014."""
    if target.start == "ram" and "FSBL" not in elves:
        raise no_elf()
    vectors = [path for _, each in networks for path in (each.inputs, each.expected, each.why_not) if path]
    files = dict.fromkeys((*(path for each, _ in networks for path in each.outputs), *vectors))
    return Step(
        verb=verb,
        stage="run",
        # An output would be removed where the run fails, which is when it matters most.
        outputs=(f"{file}.taken",),
        sources=(*elves.values(), *receipts, *files, *emulator_files(target, board)),
        parameters=to_parameters(parameters),
        templates=emulator_templates(target),
        state=(target.virtual_board, str(Path(file).parent), *boards_folders(board)),
        function=function,
        # Asking for it means asking the board.
        always=True,
        shared=False,
    )


def ask(
    target: Target,
    board: Board,
    programmer: Programmer,
    console: str,
    networks: Sequence[LinkedNetwork],
    elves: Sequence[Path],
    on_line: Callable[[str], None],
    *,
    strict_clocks: bool,
    after: After = go_on,
) -> Outcome:
    """Starts the board and runs the networks over its console. console: serial port, empty for the probe's. elves: the FSBL's
    first. strict_clocks: the virtual board objects to clocks that only the boot ROM has switched on. after: as of
    `run_over_link`. Raises as `run_on_linked_virtual_board` and `run_on_real_board`."""
    if target.probe == VIRTUAL:
        with switched_on(target, board) as powered:
            boot = replace(powered, strict_clocks=powered.strict_clocks and strict_clocks)
            return run_on_linked_virtual_board(boot, networks, elves, on_line, after)
    port = console or console_of(programmer.name)
    with board_lock(programmer):
        return run_on_real_board(
            board, networks, port, lambda: begin(programmer, target.start, elves[0]), on_line, after
        )
