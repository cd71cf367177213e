"""Step that sends a release to a board whose FSBL waits for it on its console."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from serial.tools import list_ports

from n6build.base.console import kib, say
from n6build.board.flash.receipt import VIRTUAL, Receipt, write_receipt
from n6build.board.flash.record import doubt, record_of_probe
from n6build.board.flash.sectors import wanted_sectors
from n6build.board.run.link import Link
from n6build.board.run.linked_session import console_of, noted, serial_link, virtual_link
from n6build.board.run.recovery import Release, recover, start
from n6build.board.run.session import show_line
from n6build.board.virtual_board.build import find_emulator
from n6build.describe.formats.recovery import SECTOR_BYTES
from n6build.describe.hardware.board import Board, Trial
from n6build.engine.step import Call, Step
from n6build.place.image.manifest import read_manifest
from n6build.place.memory_plan.plan import MemoryPlan, read_plan
from n6build.steps.board_files import board_as_chosen
from n6build.steps.emulator import emulator_files, emulator_templates, switched_on
from n6build.steps.flash_board import Target, board_step


@dataclass(frozen=True)
class RecoverBoardParameters(Target):
    """Parameters of the step.

    Attributes:
        trial: Slots that the release leaves empty; None without trials.
        port: Serial port of a real board; empty for that of the probe.
    """

    trial: Trial | None = None
    port: str = ""


def recover_board_step(
    output: str,
    manifest: str,
    plan: str,
    images: Sequence[str],
    board: Board,
    recovery: RecoverBoardParameters,
    after: Sequence[str],
) -> Step:
    """Return the step that recovers a board.

    Args:
        output: Path of the receipt.
        manifest: Path of the manifest, without the FSBL.
        plan: Path of memory_plan.json.
        images: Files that the manifest lists.
        board: Board to recover.
        recovery: Parameters of the step.
        after: Verdict of the checks.
    """
    function = "n6build.steps.recover_board:perform_recover_board"
    sources = (manifest, plan, *images, *emulator_files(recovery, board))
    step = board_step("Recover", "flash", function, (output,), sources, board, recovery)
    return replace(step, templates=emulator_templates(recovery), after=tuple(after), always=True)


def perform_recover_board(call: Call) -> None:
    """Send what the board lacks, let it start, and write the receipt."""
    target = call.parameters_as(RecoverBoardParameters)
    board = board_as_chosen(Path(target.file), target.board)
    manifest = call.sources[0]
    wanted = wanted_sectors(read_manifest(manifest), manifest.parent)
    release = Release(tuple(wanted), board.slots.appli.address, _left_empty(read_plan(call.sources[1]), target.trial))
    heard: list[str] = []

    with _console(target, board, noted(heard, show_line)) as link:
        done = recover(link, board.name, release)
        size = kib(done.sent * SECTOR_BYTES)
        what = f"{size} written and compared" if done.sent else "already holds this release"
        say("Recovered", f"{board.name} ({target.name})", what)
        start(link, heard)
    sectors = {sector.address: sector.sha256 for sector in wanted}
    write_receipt(call.outputs[0], Receipt(board.name, target.name, tuple(sectors), sectors))


def _left_empty(plan: MemoryPlan, trial: Trial | None) -> tuple[int, ...]:
    """Return the sectors of other slots, which could start, and of the journal."""
    models = [slot.file for model in plan.models for slot in model.slots[1:]]
    if trial is None:
        return tuple(models)
    journal = [trial.journal.address, trial.journal.address + trial.journal.size // 2]
    return (*models, *([trial.appli.address] if trial.appli else []), *journal)


@contextmanager
def _console(target: RecoverBoardParameters, board: Board, hear: Callable[[str], None]) -> Iterator[Link]:
    """Open the console, and doubt the record of a real board afterwards.

    No programmer wrote its flash, so that the record does not know its content.
    """
    if target.probe == VIRTUAL:
        with switched_on(target, board) as boot, tempfile.TemporaryDirectory(prefix="n6virt-") as folder:
            findings = Path(folder) / "findings.jsonl"
            with virtual_link(find_emulator(board.soc), replace(boot, held=True), findings, hear) as link:
                yield link
        return
    port = target.port or console_of(target.name)
    try:
        with serial_link(port, board.console.baud, hear) as link:
            # The FSBL does not listen while it erases or programs.
            link.window = 1
            yield link
    finally:
        for probe in {
            each.serial_number for each in list_ports.comports() if each.device == port and each.serial_number
        }:
            doubt(record_of_probe(probe), board.name, "it was recovered over its console")
