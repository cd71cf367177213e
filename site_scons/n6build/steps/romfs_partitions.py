"""Part of target romfs: the models and images that a description names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.paths import project_path
from n6build.compile.runtimes import Runtime
from n6build.describe.choices import Choices
from n6build.describe.model import load_model
from n6build.engine.step import Step
from n6build.place.image.romfs_manifest import DEFAULT_PROFILE, RomfsEntry, read_manifest
from n6build.place.reloc.openmv import DEFAULT, Firmware, firmware_of_tree, read_firmware
from n6build.steps.job import Job, runtime_for
from n6build.steps.network import network_steps
from n6build.steps.plan_part import Part
from n6build.steps.quantise_model import with_int8_file
from n6build.steps.reloc_networks import reloc_network
from n6build.steps.romfs_image import cascade_step, romfs_step

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
