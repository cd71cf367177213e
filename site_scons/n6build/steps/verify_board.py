"""Step that reads back the board's flash and compares it with the flash manifest.

Nothing is written to the board.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.console import say
from n6build.base.files import digest_of, to_json, write_atomically
from n6build.base.size_text import counted
from n6build.base.span import Span
from n6build.board.flash.appli_update import expected_appli
from n6build.board.flash.model_update import expected_images
from n6build.board.flash.program import board_lock
from n6build.board.flash.programmer import Programmer
from n6build.board.flash.record import forget
from n6build.board.flash.sectors import segment_data
from n6build.board.flash.survey import checked_identity
from n6build.board.flash.verify import Part, compared, raise_if_different
from n6build.describe.hardware.board import Board, Slot
from n6build.engine.step import Call, Step
from n6build.place.image.manifest import read_manifest
from n6build.place.memory_plan.plan import read_plan
from n6build.steps.flash_board import Target, board_step


@dataclass(frozen=True)
class VerifyBoardParameters:
    """Parameters of the step.

    Attributes:
        target: Board and programmer.
        updated: Models are in one of two slots each, with a revision that only the board knows.
        appli: The Appli is in one of two slots.
    """

    target: Target
    updated: bool
    appli: bool


def verify_board_step(
    output: str,
    manifest: str,
    plan: str,
    images: Sequence[str],
    board: Board,
    target: Target,
    *,
    updated: bool,
    appli: bool,
    after: Sequence[str],
) -> Step:
    """Return the step that verifies a board.

    Args:
        output: Note of the comparison.
        manifest: Path of flash_manifest.json.
        plan: Path of memory_plan.json.
        images: Files that the manifest lists.
        board: Board to verify.
        target: Board and programmer.
        updated: The build has slots=2.
        appli: The Appli has two slots.
        after: Receipts of the programmed board.
    """
    function = "n6build.steps.verify_board:perform_verify_board"
    parameters = VerifyBoardParameters(target, updated, appli)
    step = board_step("Verify", "verify", function, (output,), (manifest, plan, *images), board, target, parameters)
    # Each request for this target reads the board again.
    return replace(step, after=tuple(after), always=True)


def perform_verify_board(call: Call) -> None:
    """Compare the board's flash, and write the note.

    Raises:
        N6Error: N6-FLASH-024 if the board's flash differs; the next flash programs the differing sectors.
    """
    given = call.parameters_as(VerifyBoardParameters)
    target = given.target
    board, programmer = target.opened()
    with board_lock(programmer):
        # Identify the board before reading from it: another board's flash would be read in the wrong way.
        checked_identity(programmer, board)
        parts = _parts(
            call.sources[0], call.sources[1] if given.updated else None, board, programmer, appli=given.appli
        )
        sectors, different = compared(parts, board.nor.sector, programmer.read)
        # Remove the differing sectors from the record, also of real boards. Otherwise the next flash would have nothing to do.
        forget(programmer.record, board.name, [Span(each.address, board.nor.sector) for each in different])
    raise_if_different(different, sectors, _described(board, programmer))
    size = sum(len(part.data) for part in parts)
    say(
        "Verified",
        _described(board, programmer),
        f"{counted(sectors, 'sector')}, {size:,} bytes, equal to the flash manifest",
    )
    note = {
        "board": board.name,
        "probe": programmer.name,
        "manifest": digest_of(call.sources[0]),
        "sectors": sectors,
        "bytes": size,
    }
    write_atomically(call.outputs[0], to_json(note))


def _parts(manifest: Path, plan: Path | None, board: Board, programmer: Programmer, *, appli: bool) -> list[Part]:
    """Return the expected flash contents.

    Args:
        plan: Memory plan of models with two slots; None if the manifest has their addresses.
        appli: The Appli has two slots.
    """
    listed = read_manifest(manifest)
    models: list[Part] = []
    updated: set[str] = set()

    def read(address: int, size: int) -> bytes:
        return programmer.read([Span(address, size)])[0]

    if plan is not None:
        images = expected_images(read_plan(plan), plan.parent, read)
        models = [Part("weights", address, data) for _, address, data in images]
        updated = {name for name, _, _ in images}
    programs = [
        Part(each.name, each.address, segment_data(each, manifest.parent))
        for each in listed.segments
        if each.file not in updated
    ]
    if appli and board.trial and board.trial.appli:
        slots = (board.slots.appli, board.trial.appli)
        programs = [_in_its_slot(each, slots, read) if each.name == "appli" else each for each in programs]
    return [*programs, *(part for part in models if part.data)]


def _in_its_slot(appli: Part, slots: tuple[Slot, Slot], read: Callable[[int, int], bytes]) -> Part:
    return Part(appli.name, *expected_appli(appli.data, slots, read))


def _described(board: Board, programmer: Programmer) -> str:
    return f"{board.name} ({programmer.name})"
