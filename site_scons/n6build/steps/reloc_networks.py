"""Stage 2: networks as relocatable models, and their places in flash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.paths import project_path
from n6build.base.span import Span
from n6build.compile.prebuilt.backend import called_kernels, import_step
from n6build.compile.runtimes import Runtime
from n6build.compile.toolchain import CPU, Toolchain
from n6build.describe.compiled_folder import PrebuiltNetwork
from n6build.describe.hardware.board import Board
from n6build.engine.plan import Plan, make_plan
from n6build.engine.step import Step, outputs_of
from n6build.place.memory_plan.plan import Content, PlannedModel
from n6build.place.memory_plan.plan_tables import LoadMode
from n6build.place.reloc.compilation import LINK, model_code
from n6build.place.reloc.slots import ModelSlot, model_slots, slots_at
from n6build.place.reloc.verify import ram_of
from n6build.steps.c_array import c_array_step
from n6build.steps.compile_c import Compilation, compile_step, compile_steps, link_step
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.firmware_headers import kernel_headers_step
from n6build.steps.flash_manifest import FlashPart
from n6build.steps.release_table import ReleasedImage
from n6build.steps.reloc_model import reloc_model_step, reloc_params_step, reloc_sources_step
from n6build.steps.reloc_plan import reloc_plan_step
from n6build.steps.slot_images import SelfTestFiles, model_slot_step


@dataclass(frozen=True)
class ModelOptions:
    """Options of relocatable models.

    Attributes:
        secure: Compile for the secure state.
        split: Write the weights into a separate file.
        c_file: Also make the model as a C array.
        debug_info: Epoch tables have debug fields, as in ST's firmware.
        blobs_in_params: Put blobs of the epoch controller with the weights, not with the code.
        flags: Further C flags, from the surrounding project.
    """

    secure: bool = True
    split: bool = False
    c_file: bool = False
    debug_info: bool = True
    blobs_in_params: bool = False
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceNetwork:
    """A network as stage 1 makes it.

    Attributes:
        name: Name of the network's files.
        folder: Folder of the network's files.
        step: Step of stage 1.
        strict: Compile its C with the warnings of this project.
        of_board: The network has the pools of the board.
        kernels: C files of kernels that it may call.
        waived: Ids of waived checks.
    """

    name: str
    folder: str
    step: Step
    strict: bool
    of_board: bool
    kernels: tuple[Path, ...]
    waived: tuple[str, ...] = ()

    @property
    def raws(self) -> tuple[str, ...]:
        """Return the raw weight files, one for each memory pool."""
        return tuple(output for output in self.step.outputs if output.endswith(".raw"))


@dataclass(frozen=True)
class ModelSteps:
    """A relocatable model with the steps that make it.

    Attributes:
        steps: Steps of stage 2.
        description: Description of the model in JSON.
        elf: ELF file; empty for a model that another tool has linked.
        file: Path of network_rel.bin.
        params: File of split weights, or None.
        others: Further requested files.
    """

    steps: tuple[Step, ...]
    description: str
    elf: str
    file: str
    params: str | None
    others: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """Return all files of the model, network_rel.bin first."""
        return (self.file, *([self.params] if self.params else []), *self.others)


@dataclass(frozen=True)
class RelocPlan:
    """The memory plan of relocatable models, with their images.

    Attributes:
        plan: Step of the memory plan.
        slots: Step of each image of a model or its weights, in the order of programming.
        parts: Images with their slots, in the same order.
        released: The same images as a release lists them.
    """

    plan: Step
    slots: tuple[Step, ...]
    parts: tuple[FlashPart, ...]
    released: tuple[ReleasedImage, ...]


def model_steps(
    folder: str,
    common: str,
    network: SourceNetwork,
    runtime: Runtime,
    toolchain: Toolchain,
    options: ModelOptions,
    out: str = "",
) -> ModelSteps:
    """Return the steps that make a relocatable model.

    Args:
        folder: Folder of its intermediate files.
        common: Folder for objects that all models are linked with.
        network: Network of stage 1.
        runtime: Runtime of the model.
        toolchain: Compiler and linker.
        options: Options of the model.
        out: Folder for the files of the model; empty for `folder`.

    Raises:
        N6Error: N6-RELOC-020 if the runtime lacks files for relocatable models.
    """
    name = network.name
    out = out or folder
    code = model_code(
        runtime,
        network.kernels,
        secure=options.secure,
        debug_info=options.debug_info,
        blobs_in_params=options.blobs_in_params,
    )
    sources = reloc_sources_step(
        folder,
        network.step,
        name,
        network.folder,
        runtime.identity,
        network.waived,
        secure=options.secure,
        of_board=network.of_board,
    )
    conf, pools, wrapper, script, description = sources.outputs
    kernel_headers = kernel_headers_step(f"{common}/include")
    base = Compilation(toolchain, flags=options.flags).looking_in(*code.include_folders, f"{common}/include")
    base = base.looking_in_foreign(*code.foreign_folders)
    base = base.behind(kernel_headers.outputs)
    # The wrapper is compiled with network.c and needs its headers.
    headers = (conf, wrapper, *(each for each in network.step.outputs if each.endswith((".h", ".c"))))
    own = base.looking_in(network.folder, folder).defining(*code.network_defines).with_flags(*code.network_flags)
    own = (own if network.strict else own.with_flags("-w")).behind(headers)
    of_network = compile_steps(folder, (wrapper, pools), own)
    of_all = base.defining(*code.defines)
    shared = tuple(
        compile_step(f"{common}/{source.stem}.o", source, of_all.with_flags(*flags)) for source, flags in code.shared
    )
    link = link_step(
        f"{folder}/{name}_rel.elf",
        outputs_of((*of_network, *shared)),
        toolchain,
        scripts=(script,),
        libraries=code.libraries,
        flags=(*CPU, *LINK),
    )
    file = f"{out}/{name}_rel.bin"
    if options.split:
        made = [
            reloc_model_step(file, link),
            reloc_params_step(
                f"{out}/{name}_rel_params.bin", description, network.raws, link if options.blobs_in_params else None
            ),
        ]
    else:
        made = [reloc_model_step(file, link, (description, *network.raws))]
    arrays = [c_array_step(f"{out}/{name}_rel.c", file)] if options.c_file else []
    return ModelSteps(
        steps=(sources, kernel_headers, *of_network, *shared, link, *made, *arrays),
        description=description,
        elf=link.name,
        file=file,
        params=made[1].name if options.split else None,
        others=outputs_of(arrays),
    )


def imported_network(found: PrebuiltNetwork, work: str) -> SourceNetwork:
    """Return a network made by another tool, imported as a folder of stage 1.

    The network may come from the reference backend, and is linked with the kernels that it calls.

    Args:
        found: Network made by another tool.
        work: Folder of intermediate files, which the import goes into.

    Raises:
        N6Error: The errors of `called_kernels`.
    """
    folder = f"{work}/network"
    return SourceNetwork(
        found.name,
        folder,
        import_step(folder, found),
        strict=False,
        of_board=False,
        kernels=called_kernels(found),
    )


def stage2_plan(
    found: PrebuiltNetwork, work: str, out: str, runtime: Runtime, toolchain: Toolchain, options: ModelOptions
) -> tuple[Plan, ModelSteps]:
    """Return the plan of stage 2 alone, for a network made by another tool.

    The command line and tests use this. Its goals are network and reloc.

    Args:
        found: Network made by another tool.
        work: Folder of intermediate files.
        out: Folder of the model's files.
        runtime: Runtime of the model.
        toolchain: Compiler and linker.
        options: Options of the model.

    Raises:
        N6Error: N6-RELOC-020 if the runtime lacks files for relocatable models; N6-STEP-00x if files in
            the folders collide.
    """
    network = imported_network(found, work)
    common = common_folder(work, runtime, options)
    model = model_steps(work, common, network, runtime, toolchain, options, out)
    plan = make_plan((network.step, *model.steps), {"network": network.step.outputs, "reloc": model.files})
    return plan, model


def common_folder(board_folder: str, runtime: Runtime, options: ModelOptions) -> str:
    """Return the folder for objects that models of one kind share."""
    state = ("" if options.secure else "-ns") + ("" if options.debug_info else "-nodbg")
    return f"{board_folder}/common/model{state}" + ("" if runtime.name == "n6build" else "-st")


def reloc_network(
    folder: str, board_folder: str, network: NetworkSteps, runtime: Runtime, toolchain: Toolchain, options: ModelOptions
) -> ModelSteps:
    """Return the steps of a model in <folder>/<name>_rel.

    Raises:
        N6Error: N6-RELOC-020 if the runtime lacks files for relocatable models.
    """
    if network.model.relocatable:
        return _given_model(f"{folder}/{network.name}_rel", network, options)
    source = SourceNetwork(
        network.name,
        network.folder,
        network.step,
        strict=network.backend.strict,
        of_board=network.backend.takes_pools,
        kernels=network.kernels,
        waived=tuple(network.model.waived),
    )
    common = common_folder(board_folder, runtime, options)
    return model_steps(f"{folder}/{network.name}_rel", common, source, runtime, toolchain, options)


def _given_model(folder: str, network: NetworkSteps, options: ModelOptions) -> ModelSteps:
    """Return the steps of a model that another tool has linked: at most a C array."""
    _, description, file, *params = network.outputs
    arrays = (c_array_step(f"{folder}/{network.name}_rel.c", file),) if options.c_file else ()
    return ModelSteps(arrays, description, "", file, params[0] if params else None, outputs_of(arrays))


def reloc_plan(
    folder: str,
    board: Board,
    profile: str,
    models: Sequence[tuple[NetworkSteps, ModelSteps]],
    *,
    split: bool,
    slots: int,
    addresses: str,
    load_mode: LoadMode,
    verified: bool,
) -> RelocPlan:
    """Return the memory plan of relocatable models, with their images.

    Args:
        folder: Folder of the application.
        board: Board of the application.
        profile: Memory profile.
        models: Networks with their relocatable models.
        split: Weights are separate files.
        slots: 1, or 2 for slots A and B.
        addresses: Addresses of the only model; empty to place models automatically.
        load_mode: Load mode of all models.
        verified: The Appli verifies the images of its release.

    Raises:
        N6Error: N6-SLOT-001 if a slot is smaller than a sector; N6-SLOT-002 if addresses are invalid;
            N6-POOL-00x if the regions of the external RAM cannot be laid out.
    """
    if addresses and (len(models) > 1 or slots > 1):
        what = f"'addresses' is for one model in one slot, but this build has {len(models)} with {slots} each"
        raise N6Error("N6-SLOT-002", what, hint="remove it, or use slots=1 and a single model")
    places = (
        slots_at(board, addresses, split=split)
        if addresses
        else model_slots(board, len(models), slots=slots, split=split)
    )
    planned = [
        _planned(network.name, each, split=split, models=len(models))
        for (network, _), each in zip(models, places, strict=True)
    ]
    of_networks = [network for network, _ in models]
    plan = reloc_plan_step(folder, board, profile, of_networks, planned, load_mode, verified=verified)
    images: list[Step] = []
    parts: list[FlashPart] = []
    released: list[ReleasedImage] = []
    for (network, model), place in zip(models, planned, strict=True):
        for step, content, file in _slot_steps(folder, board, network, model, place):
            images.append(step)
            parts.append(FlashPart("weights", step.name, content))
            released.append(ReleasedImage(step.name, content, network.model.name, file))
    return RelocPlan(plan, tuple(images), tuple(parts), tuple(released))


def _planned(name: str, slots: Sequence[ModelSlot], *, split: bool, models: int) -> PlannedModel:
    prefix = f"{name}_" if models > 1 else ""
    return PlannedModel(name, f"{prefix}model.bin", f"{prefix}params.bin" if split else "", tuple(slots))


def _slot_steps(
    folder: str, board: Board, network: NetworkSteps, model: ModelSteps, planned: PlannedModel
) -> list[tuple[Step, Content, str]]:
    """Return step, content and file of each image of a model."""
    described = network.model
    test = None
    if network.inputs:
        # Only the reference backend guarantees exactly the bytes of the reference interpreter.
        expected = described.expected if network.backend.exact else None
        test = SelfTestFiles(network.inputs, project_path(expected) if expected else None)
    part = planned.slots[0]

    def image(name: str, file: str, room: int, ram: tuple[Span, ...] | None, test: SelfTestFiles | None) -> Step:
        return model_slot_step(
            f"{folder}/{name}", file, model.description, described.name, ram=ram, test=test, room=room
        )

    # The test is stored with the weights, because the outputs depend on them.
    of_model = None if model.params else test
    code = image(planned.file, model.file, part.file_bytes, ram_of(board), of_model)
    made = [(code, Content("model", network.name), model.file)]
    if model.params:
        params = image(planned.params_file, model.params, part.params_bytes, None, test)
        made.append((params, Content("params", network.name), model.params))
    return made
