"""Steps for OpenMV's read-only file system, and for a Haar cascade in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import kib, say
from n6build.base.files import read_at_most, read_bytes, write_atomically
from n6build.base.span import Span
from n6build.compile.ll_aton import version_text
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.haar_cascade import MAX_BYTES, haar_cascade
from n6build.place.image.romfs import RomfsFile, make_romfs
from n6build.place.image.romfs_manifest import RomfsPartition, check_size
from n6build.place.reloc.openmv import Firmware, check_version, refused_in_heap
from n6build.place.reloc.reader import parse_reloc_file


@dataclass(frozen=True)
class CascadeParameters:
    """Parameters of the step.

    Attributes:
        stages: Number of stages to keep, from the first; 0 for all.
    """

    stages: int


def cascade_step(output: str, source: str, stages: int) -> Step:
    """Return the step that converts a cascade.

    Args:
        output: Path of the binary cascade.
        source: XML file of OpenCV.
        stages: Number of stages to keep, from the first; 0 for all.
    """
    return Step(
        verb="Cascade",
        stage="image",
        outputs=(output,),
        sources=(source,),
        parameters=to_parameters(CascadeParameters(stages)),
        function="n6build.steps.romfs_image:make_cascade",
    )


def make_cascade(call: Call) -> None:
    """Convert the cascade.

    Raises:
        N6Error: N6-ROMFS-008 if the cascade cannot be converted.
    """
    (source,) = call.sources
    stages = call.parameters_as(CascadeParameters).stages
    write_atomically(call.outputs[0], haar_cascade(read_at_most(source, MAX_BYTES), stages, source.name))


_MODEL = b"NBIN"


@dataclass(frozen=True)
class _Entry:
    name: str
    alignment: int


@dataclass(frozen=True)
class RomfsImageParameters:
    """Parameters of the step.

    Attributes:
        number: Number of the partition.
        size: Size of the partition, in bytes.
        entries: Names and alignments of the sources, in their order.
        described_in: Name of the description file, for messages.
        firmware: Firmware that installs the models.
        file_heap: RAM inside the chip that the firmware reads files into, or None.
    """

    number: str
    size: int
    entries: tuple[_Entry, ...]
    described_in: str
    firmware: Firmware
    file_heap: Span | None


def romfs_step(
    output: str,
    partition: RomfsPartition,
    files: Sequence[str],
    described_in: str,
    firmware: Firmware,
    file_heap: Span | None,
) -> Step:
    """Return the step that makes the image of a partition.

    Args:
        output: Path of the image.
        partition: Partition with its entries.
        files: Files of the entries, models as network_rel.bin.
        described_in: Name of the description file, for messages.
        firmware: Firmware that installs the models.
        file_heap: RAM inside the chip that the firmware reads files into, or None.
    """
    entries = tuple(_Entry(entry.name, entry.alignment) for entry in partition.entries)
    return Step(
        verb="Romfs",
        stage="image",
        outputs=(output,),
        sources=tuple(files),
        parameters=to_parameters(
            RomfsImageParameters(partition.number, partition.size, entries, described_in, firmware, file_heap)
        ),
        function="n6build.steps.romfs_image:make_romfs_image",
    )


def make_romfs_image(call: Call) -> None:
    """Write the image of the partition, and report how full it is.

    Raises:
        N6Error: N6-ROMFS-001 if a name is invalid; N6-ROMFS-005 if the image is too large; N6-ROMFS-010
            if a model has another version of ll_aton; N6-RELOC-03x if a model is damaged.
    """
    given = call.parameters_as(RomfsImageParameters)
    named = zip(given.entries, call.sources, strict=True)
    files = [RomfsFile(entry.name, read_bytes(file), entry.alignment) for entry, file in named]
    models = {file.name: parse_reloc_file(file.data, file.name) for file in files if file.data.startswith(_MODEL)}
    for name, model in models.items():
        check_version(model.version, given.firmware, name)
    image = make_romfs(files)
    check_size(given.number, given.size, len(image), given.described_in)
    write_atomically(call.outputs[0], image)
    used = f"{kib(len(image))} of {kib(given.size)} ({len(image) / given.size:.1%})"
    say("Romfs", f"partition {given.number}", f"{len(given.entries)} files, {used}")
    if models:
        firmware = given.firmware
        say("Romfs", firmware.title, f"{len(models)} models for its ll_aton {version_text(firmware.ll_aton)}")
        heap = given.file_heap
        if heap and (in_place := sum(bool(refused_in_heap(model, heap)) for model in models.values())):
            what = f"load from /rom only: the camera reads files of less than {kib(heap.size)} to SRAM2"
            say("Note", f"{in_place} models", what)
