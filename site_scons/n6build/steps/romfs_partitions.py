"""Target romfs: the models in the description of a file system, and the images of its partitions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.paths import project_path
from n6build.image.romfs_manifest import DEFAULT_PROFILE, RomfsEntry, read_manifest
from n6build.models.model import load_model
from n6build.plan.step import Step
from n6build.steps.job import Job
from n6build.steps.network import network_steps
from n6build.steps.part import Part
from n6build.steps.reloc import ModelSteps, reloc_network
from n6build.steps.romfs import romfs_step


def romfs_partitions(job: Job) -> Part:
    """Every model is compiled with the profile of its entry; 'default' is that of the build.

    Raises N6-ROMFS-00x for the description, and what stages 1 and 2 raise for a model.
    """
    steps: list[Step] = []
    images: list[str] = []
    made: dict[tuple[Path, str], ModelSteps] = {}
    path = Path(job.choices.romfs)
    variables = {"TOP": str(Path.cwd()), "BUILD": str(Path(job.choices.build).absolute())}
    for partition in read_manifest(path, variables) if job.choices.romfs else ():
        files = [
            _model(job, entry, made, steps).file if entry.model else project_path(entry.path)
            for entry in partition.entries
        ]
        output = f"{job.board_folder}/romfs/romfs{partition.number}.img"
        image = romfs_step(output, partition, files, path.name)
        steps.append(image)
        images += image.outputs
    return Part(tuple(steps), {"romfs": tuple(images)})


def _model(job: Job, entry: RomfsEntry, made: dict[tuple[Path, str], ModelSteps], steps: list[Step]) -> ModelSteps:
    """made: models of all partitions so far."""
    choices, board = job.choices, job.board
    profile = choices.profile if entry.profile == DEFAULT_PROFILE else entry.profile
    if profile not in board.profiles():
        hint = did_you_mean(profile, [*board.profiles(), DEFAULT_PROFILE])
        raise N6Error("N6-ROMFS-006", f"{board.title} has no profile '{profile}'", where=entry.where, hint=hint)
    key = entry.path.resolve(), entry.profile
    if key not in made:
        same = sum(path.stem == entry.path.stem and other == entry.profile for path, other in made)
        place = f"{job.board_folder}/romfs/{entry.path.stem}"
        place += "" if entry.profile == DEFAULT_PROFILE else f"-{profile}"
        # Two folders may have a model of the same name.
        place += f"-{same + 1}" if same else ""
        stage1 = replace(job.stage1, profile=profile, loader="reloc")
        (network,) = network_steps(place, [load_model(str(key[0]))], stage1)
        options = replace(job.model_options, split=False)
        model = reloc_network(place, job.board_folder, network, job.runtime, job.toolchain, options)
        steps += [network.step, *model.steps]
        made[key] = model
    return made[key]
