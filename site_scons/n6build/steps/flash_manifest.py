"""flash_manifest.json: which images go where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import read_bytes, write_atomically
from n6build.base.span import Span
from n6build.formats.boot_header import BinaryType
from n6build.hardware.board import Board, Trial
from n6build.image.manifest import FlashFile, check_kept, make_manifest, manifest_json
from n6build.memory_plan.plan import Content, MemoryPlan, read_plan
from n6build.memory_plan.whole_image import check_model, check_model_weights, check_program, check_slot_data
from n6build.plan.step import Call, Step, to_parameters
from n6build.steps.board import BoardChoice, board_files, choice_of, chosen_board
from n6build.steps.foreign_image import placed_files


@dataclass(frozen=True)
class FlashPart:
    """content: None for a program, which is at the start of its slot. placed: file that says where the parts of `file` go, which
    then may be in any slot; empty for images of this project."""

    slot: str
    file: str
    content: Content | None = None
    placed: str = ""


@dataclass(frozen=True)
class _Place:
    slot: str
    content: Content | None


@dataclass(frozen=True)
class Parameters:
    """places: of the images, in the order of the sources that follow the plan. placed: of which of them a further source says
    where its parts go, in the order of these sources. trial: of which nothing may take the places; None: there is none."""

    board: BoardChoice
    places: tuple[_Place, ...]
    placed: tuple[int, ...]
    trial: Trial | None


def flash_manifest_step(
    output: str, parts: Sequence[FlashPart], plan: str, board: Board, trial: Trial | None = None
) -> Step:
    """plan: memory_plan.json, which gives the addresses of images that share a slot. trial: of new images."""
    places = tuple(_Place(part.slot, part.content) for part in parts)
    placed = tuple(number for number, part in enumerate(parts) if part.placed)
    lists = (part.placed for part in parts if part.placed)
    return Step(
        verb="Manifest",
        stage="image",
        outputs=(output,),
        sources=(plan, *(part.file for part in parts), *lists, *board_files(board)),
        parameters=to_parameters(Parameters(choice_of(board), places, placed, trial)),
        function="n6build.steps.flash_manifest:make",
    )


def make(call: Call) -> None:
    """Writes flash_manifest.json."""
    given = call.parameters_as(Parameters)
    plan = read_plan(call.sources[0])
    addresses = plan.flash_addresses()
    behind = 1 + len(given.places)
    images = call.sources[1:behind]
    lists = dict(zip(given.placed, call.sources[behind : behind + len(given.placed)], strict=True))
    board = chosen_board(call.sources, given.board)
    placed = list(zip(given.places, images, strict=True))
    _check_whole([each for number, each in enumerate(placed) if number not in lists], plan, board)
    files: list[FlashFile] = []
    for number, (place, image) in enumerate(placed):
        if number in lists:
            files += placed_files(image, lists[number])
        else:
            # An image without an address in the plan is empty, and gets none.
            files.append(FlashFile(place.slot, image, addresses.get(place.content) if place.content else None))
    output = call.outputs[0]
    manifest = make_manifest(board, files, output.parent)
    if given.trial:
        for each in manifest.segments:
            check_kept(Path(each.file).name, [Span(each.address, each.length)], given.trial)
    write_atomically(output, manifest_json(manifest))


def _check_whole(images: Sequence[tuple[_Place, Path]], plan: MemoryPlan, board: Board) -> None:
    """Images of this project, by what each says of itself; programs of others were read when they were taken over. Raises as the
    functions of `whole_image`."""
    boot, load = board.soc.boot, board.soc.load_and_run
    kinds = {"fsbl": (BinaryType.FSBL, boot.payload_offset), "appli": (BinaryType.SSBL, load.payload_offset)}
    sizes = {Content("weights", each.network, each.file): each.bytes for each in plan.images}
    sizes |= {Content("vectors", each.name): each.vectors.count * each.vectors.bytes_each for each in plan.networks}
    # Models before their weights, whose size they know.
    for place, path in sorted(
        images, key=lambda image: image[0].content is not None and image[0].content.kind == "params"
    ):
        image, content = read_bytes(path), place.content
        if content is None and image:
            check_program(image, *kinds[place.slot], path.name)
        elif content is None:
            continue  # The manifest refuses an empty program.
        elif content.kind == "model":
            sizes[Content("params", content.network)] = check_model(image, path.name)
        elif content.kind == "params":
            check_model_weights(image, sizes[content], path.name)
        elif image or content in sizes:
            check_slot_data(image, sizes.get(content, 0), path.name)
