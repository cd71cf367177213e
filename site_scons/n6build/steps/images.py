"""The images of an application: FSBL, Appli, test vectors, and the weights or the relocatable models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.paths import project_path
from n6build.formats.boot_header import BinaryType
from n6build.image.signing import find_keys, find_signing_tool
from n6build.memory_plan.plan import Content
from n6build.options.choices import Choices
from n6build.plan.step import Step
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.firmware import Program, Signing, appli, board_firmware, fsbl, image_step, reloc_appli
from n6build.steps.flash_manifest import FlashPart
from n6build.steps.job import Job
from n6build.steps.memory_plan import memory_plan_step
from n6build.steps.reloc import ModelSteps, reloc_network, reloc_plan
from n6build.steps.vectors_image import vectors_image_step
from n6build.steps.weights_image import weights_image_step


@dataclass(frozen=True)
class Images:
    """All that is put into flash. plan: of the memory. programs, weights: in the order of the manifest. models: only
    relocatable ones."""

    plan: Step
    programs: tuple[FlashPart, ...]
    weights: tuple[FlashPart, ...]
    fsbl: Program
    appli: Program
    steps: tuple[Step, ...]
    models: tuple[tuple[NetworkSteps, ModelSteps], ...]

    @property
    def elves(self) -> tuple[str, str]:
        """ELF files of FSBL and Appli."""
        return self.fsbl.elf, self.appli.elf

    @property
    def files(self) -> tuple[str, ...]:
        """The image files, in the order of the manifest."""
        return tuple(part.file for part in self.parts)

    @property
    def parts(self) -> tuple[FlashPart, ...]:
        """The images with their slots, in the order of the manifest."""
        return (*self.programs, *self.weights)


def _signing(choices: Choices) -> Signing | None:
    if not choices.sign:
        return None
    return Signing(find_signing_tool(), None if choices.sign == "tool" else find_keys(Path(choices.sign)))


def _programs(job: Job, loader: Program, application: Program) -> tuple[Step, Step]:
    signing, board = _signing(job.choices), job.board
    return (
        image_step(f"{job.board_folder}/fsbl_image.bin", loader, BinaryType.FSBL, board, signing),
        image_step(f"{job.folder}/appli_image.bin", application, BinaryType.SSBL, board, signing),
    )


def _vectors(job: Job, networks: Sequence[NetworkSteps]) -> list[tuple[Step, FlashPart]]:
    made = []
    for network in networks:
        if network.model.inputs:
            inputs = project_path(network.model.inputs)
            step = vectors_image_step(job.folder, inputs, network.name, len(networks))
            made.append((step, FlashPart("vectors", step.name, Content("vectors", network.name))))
    return made


def images_of(job: Job, networks: Sequence[NetworkSteps]) -> Images:
    """Networks are linked into the Appli or installed by it, according to option loader. Raises what stage 2, the memory plan
    and signing raise."""
    return _reloc_images(job, networks) if job.choices.loader == "reloc" else _linked_images(job, networks)


def _linked_images(job: Job, networks: Sequence[NetworkSteps]) -> Images:
    board, runtime = job.board, job.runtime
    plan = memory_plan_step(job.folder, board, job.choices.profile, networks, runtime.identity)
    firmware = board_firmware(job.board_folder, board, job.toolchain, job.flags)
    loader = fsbl(firmware)
    application = appli(job.folder, firmware, runtime, networks, plan)
    weights = []
    for network in networks:
        for raw in network.raws:
            step = weights_image_step(job.folder, raw, network.name, plan.name, len(networks))
            content = Content("weights", network.name, Path(raw).name)
            weights.append((step, FlashPart("weights", step.name, content)))
    return _images(job, plan, loader, application, networks, weights, ())


def _reloc_images(job: Job, networks: Sequence[NetworkSteps]) -> Images:
    choices, board, runtime = job.choices, job.board, job.runtime
    models = tuple(
        (
            network,
            reloc_network(job.folder, job.board_folder, network, runtime, job.toolchain, job.model_options),
        )
        for network in networks
    )
    placed = reloc_plan(
        job.folder,
        board,
        choices.profile,
        models,
        split=choices.split,
        slots=choices.slots,
        addresses=choices.addresses,
        load_mode=choices.load,
    )
    firmware = board_firmware(job.board_folder, board, job.toolchain, job.flags)
    loader = fsbl(firmware)
    application = reloc_appli(job.folder, firmware, runtime, placed.plan, debug_info=choices.debug_info)
    weights = list(zip(placed.slots, placed.parts, strict=True))
    return _images(job, placed.plan, loader, application, networks, weights, models)


def _images(
    job: Job,
    plan: Step,
    loader: Program,
    application: Program,
    networks: Sequence[NetworkSteps],
    weights: Sequence[tuple[Step, FlashPart]],
    models: tuple[tuple[NetworkSteps, ModelSteps], ...],
) -> Images:
    fsbl_image, appli_image = _programs(job, loader, application)
    vectors = _vectors(job, networks)
    return Images(
        plan=plan,
        programs=(
            FlashPart("fsbl", fsbl_image.name),
            FlashPart("appli", appli_image.name),
            *(part for _, part in vectors),
        ),
        weights=tuple(part for _, part in weights),
        fsbl=loader,
        appli=application,
        steps=(
            *(step for _, model in models for step in model.steps),
            plan,
            *loader.steps,
            *application.steps,
            fsbl_image,
            appli_image,
            *(step for step, _ in vectors),
            *(step for step, _ in weights),
        ),
        models=models,
    )
