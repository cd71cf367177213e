"""flash_manifest.json: which images go where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.files import write_atomically
from n6build.hardware.board import Board
from n6build.image.manifest import FlashFile, make_manifest, manifest_json
from n6build.memory_plan.plan import Content, read_plan
from n6build.plan.step import Call, Step, to_parameters
from n6build.steps.board import BoardChoice, board_files, choice_of, chosen_board


@dataclass(frozen=True)
class FlashPart:
    """content: None for a program, which is at the start of its slot."""

    slot: str
    file: str
    content: Content | None = None


@dataclass(frozen=True)
class _Place:
    slot: str
    content: Content | None


@dataclass(frozen=True)
class Parameters:
    """places: of the images, in the order of the sources that follow the plan."""

    board: BoardChoice
    places: tuple[_Place, ...]


def flash_manifest_step(output: str, parts: Sequence[FlashPart], plan: str, board: Board) -> Step:
    """plan: memory_plan.json, which gives the addresses of images that share a slot."""
    places = tuple(_Place(part.slot, part.content) for part in parts)
    return Step(
        verb="Manifest",
        stage="image",
        outputs=(output,),
        sources=(plan, *(part.file for part in parts), *board_files(board)),
        parameters=to_parameters(Parameters(choice_of(board), places)),
        function="n6build.steps.flash_manifest:make",
    )


def make(call: Call) -> None:
    """Writes flash_manifest.json."""
    given = call.parameters_as(Parameters)
    addresses = read_plan(call.sources[0]).flash_addresses()
    images = call.sources[1 : 1 + len(given.places)]
    # An image without an address in the plan is empty, and gets none.
    files = [
        FlashFile(place.slot, image, addresses.get(place.content) if place.content else None)
        for place, image in zip(given.places, images, strict=True)
    ]
    output = call.outputs[0]
    manifest = make_manifest(chosen_board(call.sources, given.board), files, output.parent)
    write_atomically(output, manifest_json(manifest))
