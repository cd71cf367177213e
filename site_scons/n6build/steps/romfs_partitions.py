"""Target romfs: OpenMV's read-only file system with models and other images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from n6build.base.console import kib, say
from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import read_at_most, read_bytes, write_atomically
from n6build.base.paths import project_path
from n6build.base.span import Span
from n6build.compile.ll_aton import version_text
from n6build.compile.runtimes import Runtime
from n6build.describe.choices import Choices
from n6build.describe.model import load_model
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.haar_cascade import MAX_BYTES, haar_cascade
from n6build.place.image.romfs import RomfsFile, make_romfs
from n6build.place.image.romfs_manifest import DEFAULT_PROFILE, RomfsEntry, RomfsPartition, check_size, read_manifest
from n6build.place.reloc.openmv import (
    DEFAULT,
    Firmware,
    check_version,
    firmware_of_tree,
    read_firmware,
    refused_in_heap,
)
from n6build.place.reloc.reader import parse_reloc_file
from n6build.steps.job import Job, runtime_for
from n6build.steps.network import network_steps
from n6build.steps.plan_part import Part
from n6build.steps.quantise_model import with_int8_file
from n6build.steps.reloc_networks import reloc_network

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
        function="n6build.steps.romfs_partitions:make_romfs_image",
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
        function="n6build.steps.romfs_partitions:make_cascade",
    )


def make_cascade(call: Call) -> None:
    """Convert the cascade.

    Raises:
        N6Error: N6-ROMFS-008 if the cascade cannot be converted.
    """
    (source,) = call.sources
    stages = call.parameters_as(CascadeParameters).stages
    write_atomically(call.outputs[0], haar_cascade(read_at_most(source, MAX_BYTES), stages, source.name))


# Meaning of `default` in OpenMV's own neuralart.json: the NPU's RAM first, then external RAM.
_PROFILE = "allmems"


@dataclass
class _Making:
    """Steps made so far.

    Attributes:
        models: Models of all partitions, which may share them.
        cascades: Cascades of all partitions, which may share them.
    """

    job: Job
    firmware: Firmware
    runtime: Runtime
    steps: list[Step] = field(default_factory=list)
    models: dict[tuple[Path, str], str] = field(default_factory=dict)
    cascades: dict[tuple[Path, int], Step] = field(default_factory=dict)


def romfs_partitions(job: Job) -> Part:
    """Return the part of target romfs.

    Each model is compiled for the firmware, with the profile of its entry. Profile 'default' is
    OpenMV's, or that of the build.

    Raises:
        N6Error: N6-ROMFS-00x if the description or the firmware is invalid; the errors of stages 1 and
            2 for a model.
    """
    if not job.choices.romfs:
        return Part((), {"romfs": ()})
    path = Path(job.choices.romfs)
    firmware = _firmware(job.choices, path)
    making = _Making(job, firmware, runtime_for(firmware, job.runtime))
    images: list[str] = []
    for partition in read_manifest(path, Path(job.choices.build)):
        files = [_file(making, entry) for entry in partition.entries]
        output = f"{job.board_folder}/romfs/romfs{partition.number}.img"
        image = romfs_step(output, partition, files, path.name, firmware, job.board.file_heap_span)
        making.steps.append(image)
        images += image.outputs
    return Part(tuple(making.steps), {"romfs": tuple(images)})


def _firmware(choices: Choices, description: Path) -> Firmware:
    """Return the firmware that the models are for.

    It is the named one, else that of the source tree with the description, else the newest release.
    """
    if choices.firmware:
        return read_firmware(choices.firmware, Path(choices.launched))
    trees = (firmware_of_tree(folder) for folder in description.absolute().parents)
    return next((found for found in trees if found), DEFAULT)


def _file(making: _Making, entry: RomfsEntry) -> str:
    """Return the file that goes into the image."""
    if entry.kind == "model":
        return _model(making, entry)
    if entry.kind == "cascade":
        return _cascade(making, entry).name
    return project_path(entry.path)


def _cascade(making: _Making, entry: RomfsEntry) -> Step:
    key = entry.path.resolve(), entry.stages
    if key not in making.cascades:
        same = sum(path.stem == entry.path.stem for path, _ in making.cascades)
        # Two folders may have a cascade of the same name.
        output = f"{making.job.board_folder}/romfs/{entry.path.stem}" + (f"-{same + 1}" if same else "") + ".cascade"
        step = cascade_step(output, project_path(entry.path), entry.stages)
        making.cascades[key] = step
        making.steps.append(step)
    return making.cascades[key]


def _model(making: _Making, entry: RomfsEntry) -> str:
    """Return the relocatable model of an entry.

    ST's tool makes it from Core 4.0 on, and OpenMV's own tools use that model. Otherwise stage 2 makes
    it.
    """
    job = making.job
    profile = _default_profile(job) if entry.profile == DEFAULT_PROFILE else entry.profile
    if profile not in job.board.profiles():
        hint = did_you_mean(profile, [*job.board.profiles(), DEFAULT_PROFILE])
        raise N6Error("N6-ROMFS-006", f"{job.board.title} has no profile '{profile}'", where=entry.where, hint=hint)
    key = entry.path.resolve(), entry.profile
    if key not in making.models:
        same = sum(path.stem == entry.path.stem and other == entry.profile for path, other in making.models)
        folder = f"{job.board_folder}/romfs"
        place = f"{folder}/{entry.path.stem}"
        place += "" if entry.profile == DEFAULT_PROFILE else f"-{profile}"
        # Two folders may have a model of the same name.
        place += f"-{same + 1}" if same else ""
        stage1 = replace(
            job.stage1, profile=profile, loader="reloc", runtime=making.runtime, relocatable=job.choices.secure
        )
        (network,) = network_steps(place, [with_int8_file(load_model(str(key[0])), job.choices)], stage1)
        making.steps += network.steps
        made = [output for output in network.step.outputs if output.endswith("_rel.bin")]
        if not made:
            options = replace(job.model_options, split=False)
            model = reloc_network(place, folder, network, making.runtime, job.toolchain, options)
            making.steps += model.steps
            made = [model.file]
        (making.models[key],) = made
    return making.models[key]


def _default_profile(job: Job) -> str:
    chosen = job.choices.profile
    return _PROFILE if chosen == Choices().profile and _PROFILE in job.board.profiles() else chosen
