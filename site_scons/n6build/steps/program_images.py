"""Images of an application: FSBL, Appli, test vectors, weights or models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import is_file
from n6build.base.paths import project_path
from n6build.base.span import Span
from n6build.describe.choices import Choices
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.board import Trial
from n6build.engine.step import Step, output_with
from n6build.place.image.foreign import Role, elf_of, flash_pieces
from n6build.place.image.manifest import check_kept
from n6build.place.image.program_board import program_board
from n6build.place.image.signing import find_keys, find_signing_tool
from n6build.place.memory_plan.plan import Content
from n6build.steps.boot_image import rom_signed_step
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.firmware import (
    Program,
    appli,
    board_firmware,
    fsbl,
    image_step,
    linked_networks,
    reloc_appli,
)
from n6build.steps.flash_manifest import FlashPart
from n6build.steps.foreign_image import GivenProgram, foreign_image_step
from n6build.steps.host_library import host_library, network_code, program_steps
from n6build.steps.job import Job
from n6build.steps.plan_memory import memory_plan_step
from n6build.steps.plan_part import NO_PART, Part
from n6build.steps.release_table import ReleasedImage, release_step
from n6build.steps.reloc_networks import ModelSteps, reloc_network, reloc_plan
from n6build.steps.signing_settings import SIGNS_ITSELF, Signing, rom_signing_of
from n6build.steps.slot_images import vectors_image_step, weights_image_step
from n6build.steps.trusted_image import trusted_step
from n6build.steps.vision_steps import asked_of, vision_program


@dataclass(frozen=True)
class Images:
    """All images for the flash of a board.

    Attributes:
        plan: Step of the memory plan.
        programs: Programs, test vectors and data, in the order of the manifest.
        weights: Weights or relocatable models, in the order of the manifest.
        own: ELF files of this project's programs by name.
        elves: All available ELF files by name, FSBL first.
        foreign: Third-party programs.
        steps: All steps that make the images.
        models: Relocatable models with their networks; empty for linked networks.
        library: Networks as a library for a third-party program; only with linked networks.
    """

    plan: Step
    programs: tuple[FlashPart, ...]
    weights: tuple[FlashPart, ...]
    own: dict[str, str]
    elves: dict[str, str]
    foreign: tuple[GivenProgram, ...]
    steps: tuple[Step, ...]
    models: tuple[tuple[NetworkSteps, ModelSteps], ...]
    library: Part = NO_PART

    @property
    def files(self) -> tuple[str, ...]:
        """Return the image files, in the order of the manifest."""
        return tuple(part.file for part in self.parts)

    @property
    def parts(self) -> tuple[FlashPart, ...]:
        """Return the images with their slots, in the order of the manifest."""
        return (*self.programs, *self.weights)


def _signing(choices: Choices) -> Signing | None:
    if not choices.sign or choices.sign.startswith(SIGNS_ITSELF):
        return None
    return Signing(find_signing_tool(), None if choices.sign == "tool" else find_keys(Path(choices.sign)))


@dataclass(frozen=True)
class _Placed:
    """A program with its place in flash.

    Attributes:
        elf: ELF file; empty if there is none.
        given: Files of a third-party program; None if this project makes it.
    """

    steps: tuple[Step, ...]
    part: FlashPart
    elf: str
    given: GivenProgram | None = None


def _loader(job: Job, make: Callable[[], Program]) -> _Placed:
    keys = rom_signing_of(job.choices)
    if job.choices.fsbl:
        return _foreign(job, "fsbl", job.choices.fsbl)
    program = make()
    output = f"{job.board_folder}/fsbl_image.bin"
    if keys is None:
        image = image_step(output, program, BinaryType.FSBL, job.board, _signing(job.choices))
        return _Placed((*program.steps, image), FlashPart("fsbl", image.name), program.elf)
    image = image_step(f"{job.board_folder}/unsigned/fsbl_image.bin", program, BinaryType.FSBL, job.board, None)
    signed = rom_signed_step(output, image.name, keys)
    return _Placed((*program.steps, image, signed), FlashPart("fsbl", signed.name), program.elf)


def _application(job: Job, make: Callable[[], Program]) -> _Placed | None:
    """Return the Appli, or None if the file of the FSBL also contains it."""
    host = job.choices.program
    if host is not None and host.elf:
        return _foreign(job, "appli", host.elf, host.elf)
    if job.project:
        program = make()
        placed = _foreign(job, "appli", program.elf, program.elf)
        return replace(placed, steps=(*program.steps, *placed.steps))
    if job.choices.appli:
        return None if job.choices.appli == job.choices.fsbl else _foreign(job, "appli", job.choices.appli)
    program, output = make(), f"{job.folder}/appli_image.bin"
    if job.trust is None:
        image = image_step(output, program, BinaryType.SSBL, job.board, _signing(job.choices))
        return _Placed((*program.steps, image), FlashPart("appli", image.name), program.elf)
    image = image_step(f"{job.folder}/unsigned/appli_image.bin", program, BinaryType.SSBL, job.board, None)
    signed = trusted_step(output, image.name, job.board.name, job.trust)
    return _Placed((*program.steps, image, signed), FlashPart("appli", signed.name), program.elf)


def _foreign(job: Job, role: Role, file: str, elf: str | None = None) -> _Placed:
    """Return a third-party program with its place in flash.

    Args:
        elf: ELF file of a program that the surrounding project may link after planning; None to search
            for it.
    """
    choices = job.choices
    if elf is None:
        found = elf_of(Path(file))
        elf = project_path(found) if found else ""
    by_ours = role == "appli" and not choices.fsbl
    step = foreign_image_step(f"{job.folder}/{role}_placed.bin", file, role, job.board, copied_by_ours=by_ours)
    # Linker map and script belong to a single program: the Appli if it is a third-party program, else the FSBL.
    named = role == "appli" or not (choices.appli or choices.program)
    of_link = [project_path(path) if path and named else "" for path in (choices.linker_map, choices.linker_script)]
    given = GivenProgram(project_path(file), role, elf, by_ours, *of_link)
    return _Placed((step,), FlashPart(role, step.name, placed=output_with(step, ".json")), elf, given)


def _data(job: Job) -> tuple[list[Step], list[FlashPart]]:
    """Return the steps and places of further files for the NOR.

    Files that already exist are checked at once, with N6-TRIAL-002.
    """
    trial = trial_of(job)
    for each in job.choices.data:
        path = Path(each.path)
        if trial and is_file(path):
            pieces = flash_pieces(path, "data", program_board(job.board), each.address, copied_by_ours=False)
            check_kept(path.name, [Span(piece.address, len(piece.data)) for piece in pieces], trial)
    steps = [
        foreign_image_step(f"{job.folder}/data_{number}.bin", each.path, "data", job.board, address=each.address)
        for number, each in enumerate(job.choices.data, 1)
    ]
    return steps, [FlashPart("data", step.name, placed=output_with(step, ".json")) for step in steps]


def _copy_of_fsbl(job: Job, loader: _Placed) -> Step:
    """Return the step of the FSBL's copy, at the place where the boot ROM looks next."""
    if loader.given:
        what = "'fsbl_copy' copies n6build's own FSBL only"
        raise N6Error(
            "N6-OPTION-026", what, hint="remove option fsbl, or add data=FILE@ADDRESS for a copy of your FSBL"
        )
    (address,) = job.board.fsbl_copies
    return foreign_image_step(f"{job.folder}/fsbl_copy.bin", loader.part.file, "data", job.board, address=address)


@dataclass(frozen=True)
class _InSlot:
    """An image in a flash slot, with its step."""

    step: Step
    part: FlashPart
    released: ReleasedImage


def _vectors(job: Job, networks: Sequence[NetworkSteps]) -> list[_InSlot]:
    made = []
    for network in networks:
        if network.inputs:
            step = vectors_image_step(job.folder, network.inputs, network.name, len(networks))
            made.append(_in_slot(step, network, Content("vectors", network.name)))
    return made


def _in_slot(image: Step, network: NetworkSteps, content: Content) -> _InSlot:
    """Return the image of data in the slot of its kind."""
    part = FlashPart(content.kind, image.name, content)
    return _InSlot(image, part, ReleasedImage(image.name, content, network.model.name))


def _release(job: Job, images: Sequence[_InSlot]) -> Step | None:
    """Return the step that lists these images, None without signatures."""
    return release_step(job.folder, [each.released for each in images], job.trust) if job.trust else None


def images_of(job: Job, networks: Sequence[NetworkSteps]) -> Images:
    """Return the images of the application.

    Option loader decides if the networks are linked into the Appli or installed by it. Target ladder
    sends inputs and the content of guards over the console, so that its inputs are not in flash.

    Raises:
        N6Error: The errors of stage 2, the memory plan and signing.
    """
    if job.choices.ladder:
        networks = [replace(each, model=replace(each.model, inputs=None), seeded=None) for each in networks]
    return _reloc_images(job, networks) if job.choices.loader == "reloc" else _linked_images(job, networks)


def _linked_images(job: Job, networks: Sequence[NetworkSteps]) -> Images:
    board, runtime = job.board, job.runtime
    plan = memory_plan_step(
        job.folder,
        board,
        job.choices.profile,
        networks,
        runtime.identity,
        verified=job.trust is not None,
        has_own_main=job.choices.is_foreign,
    )
    firmware = board_firmware(
        job.board_folder,
        board,
        job.toolchain,
        job.flags,
        on_request=job.choices.ladder,
        field=job.choices.field,
        trust=job.trust,
        recovers=job.choices.recovery == "on",
    )
    loader = _loader(job, lambda: fsbl(firmware))
    vectors, weights = _vectors(job, networks), []
    for network in networks:
        for raw in network.raws:
            step = weights_image_step(job.folder, raw, network.name, plan.name, len(networks), job.encryption)
            weights.append(_in_slot(step, network, Content("weights", network.name, Path(raw).name)))
    release = _release(job, [*weights, *vectors])
    code = network_code(job.folder, firmware.how, networks, asked_of(job))

    def make() -> Program:
        if job.project:
            return vision_program(job, job.project, firmware, networks[0])
        host = job.choices.program
        of_host = program_steps(job.folder, host, firmware.how, code) if host else ()
        return appli(job.folder, firmware, runtime, networks, plan, release, of_host)

    application = _application(job, make)
    linked = linked_networks(job.folder, firmware, runtime, networks, plan, release)
    # Other build systems name one folder, whatever the board and the networks are.
    include = f"{job.choices.build if job.choices.appli else job.folder}/include"
    library = host_library(job.folder, include, firmware, linked, plan, code)
    return replace(_images(job, plan, loader, application, vectors, weights, ()), library=library)


def trial_of(job: Job) -> Trial | None:
    """Return the images on trial with `trial=on`, or None.

    The Appli is on trial only with this project's FSBL, which chooses its slot.

    Raises:
        N6Error: N6-TRIAL-001 if the board has no place for the trial's record.
    """
    if job.choices.trial == "off":
        return None
    if job.board.trial is None:
        what = f"{job.board.title} has no journal in flash for the state of models"
        hint = (
            "add trial: {journal: {address: ..., size: 128K}, starts: 3, watchdog_ms: 20_000} to board.yaml, two "
            "sectors outside the slots"
        )
        raise N6Error("N6-TRIAL-001", what, where=f"boards/{job.board.name}/board.yaml", hint=hint)
    return replace(job.board.trial, appli=None) if job.choices.is_foreign else job.board.trial


def _is_confined(job: Job) -> bool:
    """Return True if models run unprivileged.

    A runtime that calls models itself is rejected with N6-CONFINE-001.
    """
    if job.choices.confine == "on" and job.runtime.name != "n6build":
        what = "'confine=on' needs n6build's runtime: ST's runtime lets models drive the NPU"
        raise N6Error("N6-CONFINE-001", what, hint="set confine=off, or unset STEDGEAI_CORE_DIR")
    return job.choices.confine == "on"


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
        verified=job.trust is not None,
    )
    firmware = board_firmware(
        job.board_folder,
        board,
        job.toolchain,
        job.flags,
        field=job.choices.field,
        trust=job.trust,
        recovers=job.choices.recovery == "on",
        trial=trial_of(job),
        confined=_is_confined(job),
    )
    loader = _loader(job, lambda: fsbl(firmware))
    vectors = _vectors(job, networks)
    weights = [_InSlot(*each) for each in zip(placed.slots, placed.parts, placed.released, strict=True)]
    release = _release(job, [*weights, *vectors])
    application = _application(
        job,
        lambda: reloc_appli(
            job.folder,
            firmware,
            runtime,
            placed.plan,
            release,
            secure=choices.secure,
            debug_info=choices.debug_info,
            confined=_is_confined(job),
        ),
    )
    return _images(job, placed.plan, loader, application, vectors, weights, models)


def _images(
    job: Job,
    plan: Step,
    loader: _Placed,
    application: _Placed | None,
    vectors: Sequence[_InSlot],
    weights: Sequence[_InSlot],
    models: tuple[tuple[NetworkSteps, ModelSteps], ...],
) -> Images:
    named = {"FSBL": loader, "Appli": application}
    programs = {name: each for name, each in named.items() if each}
    data_steps, data_parts = _data(job)
    if job.choices.fsbl_copy == "on":
        copy = _copy_of_fsbl(job, loader)
        data_steps.append(copy)
        data_parts.append(FlashPart("data", copy.name, placed=output_with(copy, ".json")))
    return Images(
        plan=plan,
        programs=(*(each.part for each in programs.values()), *(each.part for each in vectors), *data_parts),
        weights=tuple(each.part for each in weights),
        own={name: each.elf for name, each in programs.items() if each.given is None},
        elves={name: each.elf for name, each in programs.items() if each.elf},
        foreign=tuple(each.given for each in programs.values() if each.given),
        steps=(
            *(step for _, model in models for step in model.steps),
            plan,
            *dict.fromkeys(step for each in programs.values() for step in each.steps),
            *(each.step for each in vectors),
            *data_steps,
            *(each.step for each in weights),
        ),
        models=models,
    )
