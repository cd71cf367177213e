"""Step for flash_manifest.json, the list of images and their flash addresses.

flash_layout.json is the same list without digests of the contents, for steps that only need sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.files import file_size, read_bytes, write_atomically
from n6build.base.span import Span
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.board import Board, Trial
from n6build.describe.hardware.program_places import ProgramPlaces, places_of
from n6build.describe.hardware.slots import BoardFlash, flash_of
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.manifest import FlashFile, check_kept, make_manifest, manifest_json
from n6build.place.memory_plan.plan import Content, MemoryPlan, read_plan
from n6build.place.memory_plan.whole_image import check_model, check_model_weights, check_program, check_slot_data
from n6build.steps.foreign_image import placed_files


@dataclass(frozen=True)
class FlashPart:
    """An image with its place in flash.

    Attributes:
        slot: Name of the slot.
        file: Image file.
        content: Content of the image; None for a program, which is at the start of its slot.
        placed: File that lists the address of each piece of `file`, in any slot; empty for images of
            this project.
    """

    slot: str
    file: str
    content: Content | None = None
    placed: str = ""


@dataclass(frozen=True)
class _Place:
    slot: str
    content: Content | None


@dataclass(frozen=True)
class FlashManifestParameters:
    """Parameters of the step.

    Attributes:
        flash: Flash slots of the board.
        programs: Load addresses of the programs.
        places: Places of the images, in the order of the sources that follow the plan.
        placed: Indexes of the images whose pieces a further source lists, in the order of these sources.
        trial: Trial whose places must stay free; None for none.
    """

    flash: BoardFlash
    programs: ProgramPlaces
    places: tuple[_Place, ...]
    placed: tuple[int, ...]
    trial: Trial | None


def flash_manifest_step(
    output: str,
    parts: Sequence[FlashPart],
    plan: str,
    board: Board,
    trial: Trial | None = None,
    *,
    layout: str = "",
) -> Step:
    """Return the step that writes the flash manifest.

    Args:
        output: Path of the manifest.
        parts: Images with their slots.
        plan: Path of memory_plan.json, which has the addresses of images that share a slot.
        board: Board of the application.
        trial: Trial of new images; None for none.
        layout: File for the manifest without digests, which does not change if only contents change;
            empty for none.
    """
    places = tuple(_Place(part.slot, part.content) for part in parts)
    placed = tuple(number for number, part in enumerate(parts) if part.placed)
    lists = (part.placed for part in parts if part.placed)
    return Step(
        verb="Manifest",
        stage="image",
        outputs=(output, *([layout] if layout else [])),
        sources=(plan, *(part.file for part in parts), *lists),
        parameters=to_parameters(FlashManifestParameters(flash_of(board), places_of(board.soc), places, placed, trial)),
        function="n6build.steps.flash_manifest:perform_flash_manifest",
    )


def perform_flash_manifest(call: Call) -> None:
    """Write the manifest and its layout."""
    given = call.parameters_as(FlashManifestParameters)
    plan = read_plan(call.sources[0])
    addresses = plan.flash_addresses()
    behind = 1 + len(given.places)
    images = call.sources[1:behind]
    lists = dict(zip(given.placed, call.sources[behind : behind + len(given.placed)], strict=True))
    placed = list(zip(given.places, images, strict=True))
    _check_whole([each for number, each in enumerate(placed) if number not in lists], plan, given.programs)
    files: list[FlashFile] = []
    for number, (place, image) in enumerate(placed):
        if number in lists:
            files += placed_files(image, lists[number])
        else:
            # An image without an address in the plan is empty and needs no address.
            files.append(FlashFile(place.slot, image, addresses.get(place.content) if place.content else None))
    output, *layouts = call.outputs
    manifest = make_manifest(given.flash, files, output.parent)
    if given.trial:
        for each in manifest.segments:
            check_kept(Path(each.file).name, [Span(each.address, each.length)], given.trial)
    write_atomically(output, manifest_json(manifest))
    without_content = tuple(replace(segment, sha256="") for segment in manifest.segments)
    for layout in layouts:
        write_atomically(layout, manifest_json(replace(manifest, segments=without_content)))


def _check_whole(images: Sequence[tuple[_Place, Path]], plan: MemoryPlan, programs: ProgramPlaces) -> None:
    """Check this project's images against their own headers and the memory plan.

    Third-party programs were checked when they were imported. The errors are those of the functions of
    `whole_image`.
    """
    fsbl, appli = programs.fsbl.payload_offset, programs.appli.payload_offset
    kinds = {"fsbl": (BinaryType.FSBL, fsbl), "appli": (BinaryType.SSBL, appli)}
    sizes = {Content("weights", each.network, each.file): each.bytes for each in plan.images}
    sizes |= {Content("vectors", each.name): each.vectors.count * each.vectors.bytes_each for each in plan.networks}
    # Check models first, because a model contains the size of its weights.
    for place, path in sorted(
        images, key=lambda image: image[0].content is not None and image[0].content.kind == "params"
    ):
        content, is_empty = place.content, not file_size(path)
        if content is None:
            # The manifest rejects an empty program.
            if not is_empty:
                check_program(read_bytes(path), *kinds[place.slot], path.name)
        elif content.kind == "model":
            sizes[Content("params", content.network)] = check_model(read_bytes(path), path.name)
        elif content.kind == "params":
            check_model_weights(read_bytes(path), sizes[content], path.name)
        elif not is_empty or content in sizes:
            check_slot_data(path, sizes.get(content, 0))
