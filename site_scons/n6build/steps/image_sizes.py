"""Step that reports the use of each memory region, as a table and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import say, show
from n6build.base.files import write_atomically
from n6build.base.version import version
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.program_places import places_of
from n6build.describe.hardware.slots import BoardFlash, flash_of
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.manifest import FlashManifest, read_manifest
from n6build.place.image.sizes import pool_uses, region_uses, size_table
from n6build.place.memory_plan.plan import MemoryPlan, read_plan
from n6build.tell.figures import SizesFile, sizes_json, sizes_of


@dataclass(frozen=True)
class ImageSizesParameters:
    """Parameters of the step.

    Attributes:
        flash: Flash slots of the board.
        limits: Bytes of RAM by program.
        programs: Names of the programs whose ELF files are among the sources.
        n6build: Version of n6build.
        encrypted: The Appli and copied weights are encrypted in flash.
    """

    flash: BoardFlash
    limits: dict[str, int]
    programs: tuple[str, ...]
    n6build: str
    encrypted: bool


def sizes_step(output: str, board: Board, layout: str, elves: Mapping[str, str], plan: str, *, encrypted: bool) -> Step:
    """Return the step that reports the use of memory regions.

    Args:
        output: Path of the table.
        board: Board of the application.
        layout: Path of flash_layout.json.
        elves: ELF files of this project's programs by name.
        plan: Path of memory_plan.json.
        encrypted: The Appli and copied weights are encrypted in flash.
    """
    places = places_of(board.soc)
    limits = {"FSBL": places.fsbl.room, "Appli": places.appli.room}
    return Step(
        verb="Sizes",
        stage="image",
        outputs=(output, str(Path(output).with_suffix(".json"))),
        sources=(layout, plan, *elves.values()),
        parameters=to_parameters(ImageSizesParameters(flash_of(board), limits, tuple(elves), version(), encrypted)),
        function="n6build.steps.image_sizes:make_image_sizes",
    )


def make_image_sizes(call: Call) -> None:
    """Print and write the table, and write the JSON."""
    given = call.parameters_as(ImageSizesParameters)
    layout, plan_file, *files = call.sources
    listed = read_manifest(layout)
    uses = region_uses(given.flash, given.limits, listed, dict(zip(given.programs, files, strict=False)))
    plan = read_plan(plan_file)
    named = {each.name: f" of {each.model}" if len(plan.networks) > 1 else "" for each in plan.networks}
    uses += pool_uses([(f"{pool.fname}{named[pool.network]}", pool.used, pool.size) for pool in plan.pools])
    table = size_table(uses) + (_in_the_clear(plan, listed) if given.encrypted else "")
    write_atomically(call.outputs[0], table)
    write_atomically(call.outputs[1], sizes_json(SizesFile(given.n6build, (sizes_of(plan, listed, uses),))))
    show(table)
    if given.encrypted and (visible := [image.slot_file for image in plan.images if image.in_place]):
        what = "read from flash by the network, and so not encrypted: profile=noextmem or extram copies weights to RAM"
        say("Warning", ", ".join(visible), what, style="bad")


def _in_the_clear(plan: MemoryPlan, listed: FlashManifest) -> str:
    """Return the lines that tell encrypted images from those in the clear."""
    copied = {image.slot_file for image in plan.images if not image.in_place}
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for segment in listed.segments:
        name = Path(segment.file).name
        kinds[segment.name == "appli" or name in copied].append(name)
    return f"  encrypted in flash   {', '.join(kinds[True])}\n  in the clear         {', '.join(kinds[False])}\n"
