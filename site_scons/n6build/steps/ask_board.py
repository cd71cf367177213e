"""Steps that question a board and record its answers even after a failure.

Two steps use this: the field report and the ladder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.board.flash.program import board_lock
from n6build.board.flash.programmer import Programmer
from n6build.board.flash.receipt import VIRTUAL
from n6build.board.run.linked_session import (
    After,
    LinkedNetwork,
    console_of,
    go_on,
    run_on_linked_virtual_board,
    run_on_real_board,
)
from n6build.board.run.session import Outcome
from n6build.describe.hardware.board import Board
from n6build.engine.step import Step
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.emulator import emulator_files, emulator_templates, switched_on
from n6build.steps.flash_board import Target, board_step
from n6build.steps.run_board import NetworkOnBoard
from n6build.steps.start_board import begin, no_elf


@dataclass(frozen=True)
class AskingParameters:
    """Common parameters of both steps.

    Attributes:
        target: Board and programmer.
        networks: Networks in the order of the Appli.
        elves: Number of ELF files, which are the first sources.
        console: Serial port; empty for the port of the probe.
        n6build: Version of n6build.
    """

    target: Target
    networks: tuple[NetworkOnBoard, ...]
    elves: int
    console: str
    n6build: str


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
    """Return a step that questions a board.

    Args:
        verb: Verb of the step on the console.
        function: Function of the step.
        file: File that `function` writes, even if it raises an error afterwards. Its folder holds only
            records of boards.
        receipts: Receipts of the programmed board.
        networks: Each network, as compiled and as it runs on the board.
        elves: Available ELF files by name; they are the first sources.
        board: Board of the run.
        target: Board and programmer.
        parameters: Parameters of the step.

    Raises:
        N6Error: N6-OPTION-014 if start=ram has no ELF file of the FSBL.
    """
    if target.start == "ram" and "FSBL" not in elves:
        raise no_elf()
    vectors = [path for _, each in networks for path in (each.inputs, each.expected, each.why_not, each.nudged) if path]
    files = dict.fromkeys((*(path for each, _ in networks for path in each.outputs), *vectors))
    sources = (*elves.values(), *receipts, *files, *emulator_files(target, board))
    # The engine removes outputs of a failed step, but this file matters most after a failure.
    step = board_step(verb, "run", function, (f"{file}.taken",), sources, board, target, parameters)
    board_state, *folders = step.state
    state = (board_state, str(Path(file).parent), *folders)
    # Each request for this target questions the board again.
    return replace(step, templates=emulator_templates(target), state=state, always=True)


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
    """Start the board and run the networks over its console.

    Args:
        target: Board and programmer.
        board: Board of the run.
        programmer: Programmer of the target.
        console: Serial port; empty for the port of the probe.
        networks: Networks in the order of the Appli.
        elves: ELF files, the FSBL first.
        on_line: Called with each console line.
        strict_clocks: The virtual board rejects clocks that only the boot ROM has switched on.
        after: See `run_over_link`.

    Raises:
        N6Error: The errors of `run_on_linked_virtual_board` and `run_on_real_board`.
    """
    if target.probe == VIRTUAL:
        with switched_on(target, board) as powered:
            boot = replace(powered, strict_clocks=powered.strict_clocks and strict_clocks)
            return run_on_linked_virtual_board(boot, networks, elves, on_line, after)
    port = console or console_of(programmer.name)
    with board_lock(programmer):
        return run_on_real_board(
            board, networks, port, lambda: begin(programmer, target.start, elves[0]), on_line, after
        )
