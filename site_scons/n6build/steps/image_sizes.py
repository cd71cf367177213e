"""Steps that report sizes of images, their changes, and sectors to flash.

Step that reports the changes of a merge request in sizes and memory. The report is Markdown for a
comment, and JSON for the next report.

Step that reports the sectors of the images that a board does not hold yet. The report goes to the
console. to_flash.txt contains the size of all images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import kib, say, show
from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.size_text import counted
from n6build.base.version import version
from n6build.board.flash.program import lacking_now
from n6build.board.flash.receipt import VIRTUAL_RECORD
from n6build.board.flash.record import records_folder
from n6build.board.flash.sectors import bytes_of, wanted_sectors
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.program_places import places_of
from n6build.describe.hardware.slots import BoardFlash, flash_of
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.manifest import FlashManifest, read_manifest
from n6build.place.image.sizes import pool_uses, region_uses, size_table
from n6build.place.memory_plan.plan import MemoryPlan, read_plan
from n6build.tell.figures import SizesFile, read_sizes, sizes_json, sizes_of
from n6build.tell.merge import check_base, write_merge_report


def merge_report_step(folder: str, sizes: str, base: str) -> Step:
    """Return the step that writes the merge report.

    Args:
        folder: Folder of the report.
        sizes: Path of sizes.json of this build.
        base: Path of sizes.json of the base branch; empty if there is none.

    Raises:
        N6Error: N6-SIZES-003 if the base is a file of this build.
    """
    outputs = tuple(f"{folder}/merge_report.{suffix}" for suffix in ("md", "json"))
    check_base(base, (*outputs, sizes))
    return Step(
        verb="Compare",
        stage="report",
        outputs=outputs,
        sources=(sizes, *([project_path(base)] if base else [])),
        function="n6build.steps.image_sizes:perform_merge_report",
    )


def perform_merge_report(call: Call) -> None:
    """Write merge_report.md and merge_report.json, and print the verdict."""
    sizes, *base = map(read_sizes, call.sources)
    write_merge_report(call.outputs[0].parent, sizes, base[0] if base else None)


@dataclass(frozen=True)
class MissingSectorsParameters:
    """Parameters of the step.

    Attributes:
        virtual_board: Folder of the virtual board.
    """

    virtual_board: str


def lacking_step(output: str, manifest: str, images: Sequence[str], virtual_board: str) -> Step:
    """Return the step that reports sectors to program.

    Args:
        output: Path of to_flash.txt.
        manifest: Path of flash_manifest.json.
        images: Files that the manifest lists.
        virtual_board: Folder of the virtual board.
    """
    return Step(
        verb="Lacking",
        stage="image",
        outputs=(output,),
        sources=(manifest, *images),
        parameters=to_parameters(MissingSectorsParameters(virtual_board)),
        state=(virtual_board,),
        function="n6build.steps.image_sizes:make_missing_sectors",
        quiet=True,
    )


def make_missing_sectors(call: Call) -> None:
    """Report the number of sectors to program, from the records; no board is accessed."""
    folder = Path(call.parameters_as(MissingSectorsParameters).virtual_board)
    manifest = read_manifest(call.sources[0])
    wanted = wanted_sectors(manifest, call.sources[0].parent)
    everything = f"{counted(len(wanted), 'sector')} ({kib(bytes_of(wanted))})"
    found = lacking_now(wanted, manifest.board, [folder / VIRTUAL_RECORD, *records_folder().glob("*.json")])
    if found is None:
        say("To flash", f"{everything}, all of it: n6build has no record of such a board")
    else:
        name, sectors, size = found
        lacking = f"{counted(sectors, 'sector')} ({kib(size)}) that differ on board {name}"
        say("To flash", lacking if sectors else f"nothing: board {name} is up to date")
    write_atomically(call.outputs[0], f"{everything} of {manifest.board}'s flash\n")


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
