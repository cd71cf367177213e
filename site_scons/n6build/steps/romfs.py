"""romfs<n>.img: OpenMV's read-only file system, with relocatable models in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import kib, say
from n6build.base.files import read_bytes, write_atomically
from n6build.image.romfs import RomfsFile, make_romfs
from n6build.image.romfs_manifest import RomfsPartition, check_size
from n6build.plan.step import Call, Step, to_parameters


@dataclass(frozen=True)
class _Entry:
    name: str
    alignment: int


@dataclass(frozen=True)
class Parameters:
    """size: of the partition, bytes. entries: names of the sources, in their order. described_in: file, for messages."""

    number: str
    size: int
    entries: tuple[_Entry, ...]
    described_in: str


def romfs_step(output: str, partition: RomfsPartition, files: Sequence[str], described_in: str) -> Step:
    """files: of the partition's entries, models as network_rel.bin. described_in: name of the description, for messages."""
    entries = tuple(_Entry(entry.name, entry.alignment) for entry in partition.entries)
    return Step(
        verb="Romfs",
        stage="image",
        outputs=(output,),
        sources=tuple(files),
        parameters=to_parameters(Parameters(partition.number, partition.size, entries, described_in)),
        function="n6build.steps.romfs:make",
    )


def make(call: Call) -> None:
    """Writes the image of the partition, and says how full it is."""
    given = call.parameters_as(Parameters)
    files = zip(given.entries, call.sources, strict=True)
    image = make_romfs([RomfsFile(entry.name, read_bytes(file), entry.alignment) for entry, file in files])
    check_size(given.number, given.size, len(image), given.described_in)
    write_atomically(call.outputs[0], image)
    used = f"{kib(len(image))} of {kib(given.size)} ({len(image) / given.size:.1%})"
    say("Romfs", f"partition {given.number}", f"{len(given.entries)} files, {used}")
