"""Step that boots a program on the virtual board and watches it to a given point.

The result is run.json, and the same as JUnit XML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from n6build.base.files import to_json, write_atomically
from n6build.base.junit import Case, junit
from n6build.base.paths import project_path
from n6build.board.flash.receipt import VIRTUAL_RECORD
from n6build.board.flash.survey import doubted_if_it_fails
from n6build.board.run.registers import check_registers, say_registers
from n6build.board.run.session import Outcome, show_line
from n6build.board.run.until import run_until
from n6build.describe.choices import Trace
from n6build.describe.hardware.board import Board
from n6build.describe.until import Until
from n6build.engine.step import Call, Step
from n6build.steps.board_files import board_as_chosen
from n6build.steps.emulator import emulator_files, emulator_templates, switched_on
from n6build.steps.flash_board import Target, board_step
from n6build.steps.run_files import Sound, Vision, keep_sheet, npu_files, profiled, run_outputs, with_sound, with_vision


@dataclass(frozen=True)
class RunUntilParameters:
    """Parameters of the step.

    Attributes:
        target: Board and programmer.
        until: End of the run.
        programs: Names of the programs whose ELF files are the first sources.
        gdb: Wait for GDB.
        sound: Files for what the board hears and plays.
        vision: Camera and display of the board.
    """

    target: Target
    until: Until
    programs: tuple[str, ...]
    gdb: bool
    sound: Sound
    vision: Vision


def run_until_step(
    output: str,
    receipts: Sequence[str],
    elves: Mapping[str, str],
    board: Board,
    target: Target,
    until: Until,
    *,
    gdb: bool,
    trace: Trace,
    sound: Sound,
    vision: Vision,
) -> Step:
    """Return the step that watches a program.

    Args:
        output: Path of run.json.
        receipts: Receipts of the programmed board.
        elves: Available ELF files by name, for symbols and source lines.
        board: Board of the run.
        target: Board and programmer.
        until: End of the run.
        gdb: Wait for GDB.
        trace: Record of the run that option trace asks for.
        sound: Files for what the board hears and plays.
        vision: Camera and display of the board.
    """
    heard = (project_path(sound.heard),) if sound.heard else ()
    function, results = "n6build.steps.run_until:perform_run_until", run_outputs(output, trace)
    outputs = (*results, *vision.outputs(output), *sound.outputs)
    sources = (*elves.values(), *receipts, *emulator_files(target, board), *heard)
    parameters = RunUntilParameters(target, until, tuple(elves), gdb, sound, vision)
    step = board_step("Run", "run", function, outputs, sources, board, target, parameters)
    state = (*step.state, *vision.state)
    # Each request for a run runs again.
    return replace(step, templates=emulator_templates(target), state=state, always=True, kept=results[1:])


def perform_run_until(call: Call) -> None:
    """Run the board, and write run.json and run.xml.

    Raises:
        N6Error: N6-RUN-008 if the program does not reach the end of the run; N6-RUN-009 if it uses
            registers that the board treats as an error; N6-RUN-010 if option until names an unknown
            symbol.
    """
    given = call.parameters_as(RunUntilParameters)
    board = board_as_chosen(Path(given.target.file), given.target.board)
    programs = dict(zip(given.programs, call.sources, strict=False))
    folder = Path(given.target.virtual_board)
    with doubted_if_it_fails(folder / VIRTUAL_RECORD, board.name):
        with (
            switched_on(given.target, board) as boot,
            npu_files(folder, board, (), call.outputs, record=False) as files,
            profiled(replace(boot, npu=files), call.outputs, [*programs.values()]) as profiled_boot,
            with_sound(profiled_boot, given.sound) as with_ears,
            with_vision(with_ears, given.vision) as watched,
        ):
            outcome = run_until(watched, given.until, programs, gdb=given.gdb, on_line=show_line)
        keep_sheet(given.vision, call.outputs)
        write_atomically(call.outputs[0], to_json(asdict(outcome)))
        write_atomically(call.outputs[1], _junit(outcome))
        say_registers(outcome.registers, str(call.outputs[0]))
        outcome.raise_if_wrong()
    check_registers(board, outcome.registers)


def _junit(outcome: Outcome) -> bytes:
    assert outcome.watched is not None
    watched = outcome.watched
    where = f"{watched.instructions:,} instructions, at {watched.at}"
    cases = [Case("virtual board", f"reaches {watched.until}", 0.0, watched.why_not, where)]
    # Findings of the virtual board are reported, but do not fail a third-party program.
    cases += [
        Case("virtual board", f"finding {number}", 0.0, "", text) for number, text in enumerate(outcome.findings, 1)
    ]
    return junit(f"{outcome.board} until {watched.until}", cases)
