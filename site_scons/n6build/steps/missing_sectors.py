"""Step that reports the sectors of the images that a board does not hold yet.

The report goes to the console. to_flash.txt contains the size of all images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import kib, say
from n6build.base.files import write_atomically
from n6build.base.size_text import counted
from n6build.board.flash.program import lacking_now
from n6build.board.flash.receipt import VIRTUAL_RECORD
from n6build.board.flash.record import records_folder
from n6build.board.flash.sectors import bytes_of, wanted_sectors
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.manifest import read_manifest


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
        function="n6build.steps.missing_sectors:make_missing_sectors",
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
