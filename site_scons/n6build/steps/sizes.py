"""How full each region is, as a table and as JSON, and how much of the build the board does not hold yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import kib, say, show
from n6build.base.files import write_atomically
from n6build.base.version import version
from n6build.flash.program import counted, lacking_now
from n6build.flash.receipt import VIRTUAL_RECORD
from n6build.flash.record import records_folder
from n6build.flash.sectors import bytes_of, wanted_sectors
from n6build.hardware.board import Board
from n6build.hardware.program_places import places_of
from n6build.hardware.slots import BoardFlash, flash_of
from n6build.image.manifest import read_manifest
from n6build.image.sizes import pool_uses, region_uses, size_table
from n6build.memory_plan.plan import read_plan
from n6build.plan.step import Call, Step, to_parameters
from n6build.report.figures import SizesFile, sizes_json, sizes_of


@dataclass(frozen=True)
class Parameters:
    """limits: bytes of RAM, by program. virtual_board: its folder. programs: names of those whose ELF files are among the
    sources. n6build: its version."""

    flash: BoardFlash
    limits: dict[str, int]
    virtual_board: str
    programs: tuple[str, ...]
    n6build: str


def sizes_step(
    output: str,
    board: Board,
    manifest: str,
    elves: Mapping[str, str],
    plan: str,
    images: Sequence[str],
    virtual_board: str,
) -> Step:
    """output: the table. elves: of the programs of this project, by name."""
    places = places_of(board.soc)
    limits = {"FSBL": places.fsbl.room, "Appli": places.appli.room}
    return Step(
        verb="Sizes",
        stage="image",
        outputs=(output, str(Path(output).with_suffix(".json"))),
        sources=(manifest, plan, *elves.values(), *images),
        parameters=to_parameters(Parameters(flash_of(board), limits, virtual_board, tuple(elves), version())),
        state=(virtual_board,),
        function="n6build.steps.sizes:make",
    )


def make(call: Call) -> None:
    """Prints and writes the table, writes the JSON, and says how many sectors would be programmed."""
    given = call.parameters_as(Parameters)
    manifest, plan_file, *files = call.sources
    listed = read_manifest(manifest)
    uses = region_uses(given.flash, given.limits, listed, dict(zip(given.programs, files, strict=False)))
    plan = read_plan(plan_file)
    named = {each.name: f" of {each.model}" if len(plan.networks) > 1 else "" for each in plan.networks}
    uses += pool_uses([(f"{pool.fname}{named[pool.network]}", pool.used, pool.size) for pool in plan.pools])
    table = size_table(uses)
    write_atomically(call.outputs[0], table)
    write_atomically(call.outputs[1], sizes_json(SizesFile(given.n6build, (sizes_of(plan, listed, uses),))))
    show(table)
    _say_lacking(given.flash.name, manifest, Path(given.virtual_board))


def _say_lacking(board: str, manifest: Path, virtual_board: Path) -> None:
    """According to the records; no board is accessed."""
    records = [virtual_board / VIRTUAL_RECORD, *records_folder().glob("*.json")]
    wanted = wanted_sectors(read_manifest(manifest), manifest.parent)
    found = lacking_now(wanted, board, records)
    if found is None:
        everything = f"{counted(len(wanted))} ({kib(bytes_of(wanted))})"
        say("To flash", f"{everything}, all of it: no such board has been programmed from here")
    else:
        name, sectors, size = found
        say("To flash", f"{counted(sectors)} ({kib(size)}) that board {name} does not hold yet")
