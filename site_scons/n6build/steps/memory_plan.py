"""memory_plan.json, its tables in C and its symbols for the linker, for networks that are linked into the Appli."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.findings import refuse
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.formats.trust_claim import CLAIM
from n6build.hardware.board import Board
from n6build.hardware.slots import BoardFlash
from n6build.memory_plan import generated_c
from n6build.memory_plan.board_memory import BoardMemory, memory_of
from n6build.memory_plan.images import elsewhere
from n6build.memory_plan.make import CompiledNetwork, compiled_network, make_plan
from n6build.memory_plan.plan import MemoryPlan, plan_json
from n6build.memory_plan.vectors import NO_VECTORS, VectorShape, read_vectors
from n6build.network.runtimes import VERSION_GATE, RuntimeVersion, check_epochs, version_header, version_mismatch
from n6build.own_blobs.digests import require_proved
from n6build.plan.step import Call, Step, to_parameters
from n6build.steps.compiled_network import NetworkSteps


@dataclass(frozen=True)
class PlannedNetwork:
    """weights: names of its raw files, which are not read. inputs: file of its test vectors, empty where it has none, or
    where they are seeded. vectors: their shape; None where the file cannot be read.
    version_header: file for the compiler, empty unless the version gate is waived."""

    model: str
    name: str
    folder: str
    weights: tuple[str, ...]
    is_classification: bool
    inputs: str
    vectors: VectorShape | None
    is_seeded: bool = False
    version_header: str = ""


@dataclass(frozen=True)
class PlanParameters:
    """Of either plan. claim_bytes: behind each image of data, where those are signed."""

    board: BoardMemory
    profile: str
    networks: tuple[PlannedNetwork, ...]
    claim_bytes: int


@dataclass(frozen=True)
class Parameters(PlanParameters):
    """runtime: that the Appli is linked with."""

    runtime: RuntimeVersion


def memory_plan_step(
    folder: str,
    board: Board,
    profile: str,
    networks: Sequence[NetworkSteps],
    runtime: RuntimeVersion,
    *,
    signed: bool,
    has_own_main: bool,
) -> Step:
    """signed: whether images of data are. has_own_main: whether a program of somebody else calls the networks: its linker
    script places all buffers. Raises N6-POOL-00x if the regions of the external RAM cannot be laid out."""
    planned = tuple(
        replace(network, version_header=version_header_of(folder, each))
        for network, each in zip(planned_networks(networks), networks, strict=True)
    )
    memory = memory_of(board, sizes_of(networks))
    if has_own_main:
        memory = replace(memory, pool_region=None)
    parameters = Parameters(memory, profile, planned, claim_of(signed=signed), runtime)
    headers = tuple(each.version_header for each in planned if each.version_header)
    return Step(
        verb="Plan",
        stage="plan",
        outputs=(f"{folder}/memory_plan.json", f"{folder}/n6_memory_plan.c", f"{folder}/n6_pools.ld", *headers),
        sources=(*network_files(networks), *(file for each in networks for file in each.proved)),
        parameters=to_parameters(parameters),
        templates=tuple(map(project_path, with_included(generated_c.TEMPLATE))),
        function="n6build.steps.memory_plan:make",
    )


def claim_of(*, signed: bool) -> int:
    """Bytes that a signature takes behind an image of data, whose trailer ends on a multiple of its alignment."""
    return CLAIM.size if signed else 0


def version_header_of(folder: str, network: NetworkSteps) -> str:
    """The header that network.c is compiled with if the version gate is waived, else empty. folder: of the memory plan."""
    return f"{folder}/{network.name}_ll_aton_version.h" if VERSION_GATE in network.model.waived else ""


def planned_networks(networks: Sequence[NetworkSteps]) -> tuple[PlannedNetwork, ...]:
    """The networks as parameters of a step."""
    return tuple(
        PlannedNetwork(
            each.model.name,
            each.name,
            each.folder,
            each.weights,
            each.model.result == "classification",
            project_path(each.model.inputs) if each.model.inputs else "",
            _shape(each.model.inputs) if each.model.inputs else NO_VECTORS,
            is_seeded=each.seeded is not None,
        )
        for each in networks
    )


def sizes_of(networks: Sequence[NetworkSteps]) -> dict[str, int]:
    """Bytes of the memory pools for which models want another size."""
    return {name: size for each in networks for name, size in each.model.network.pools.items()}


def network_files(networks: Sequence[NetworkSteps]) -> tuple[str, ...]:
    """All that stage 1 makes but the weights, and test vectors that cannot be read, which the step then says."""
    unread = (each.inputs for each in planned_networks(networks) if each.vectors is None)
    return tuple(dict.fromkeys((*(file for each in networks for file in each.described), *unread)))


def _shape(inputs: Path) -> VectorShape | None:
    try:
        return read_vectors(inputs).shape
    except N6Error:
        return None


def compiled(networks: Sequence[PlannedNetwork]) -> list[CompiledNetwork]:
    """Reads what stage 1 made. Raises what `read_artifacts` and `compiled_network` raise."""
    return [
        compiled_network(
            each.model,
            Path(each.folder),
            each.name,
            each.weights,
            None if each.is_seeded else each.vectors or read_vectors(Path(each.inputs)).shape,
            is_classification=each.is_classification,
        )
        for each in networks
    ]


def make(call: Call) -> None:
    """Writes memory_plan.json, n6_memory_plan.c, n6_pools.ld, and headers for networks of another version."""
    given = call.parameters_as(Parameters)
    networks = compiled(given.networks)
    headers: list[str] = []
    for network, planned in zip(networks, given.networks, strict=True):
        artifacts = network.artifacts
        check_epochs(artifacts, given.runtime, runs_blobs=True)
        require_proved(Path(planned.folder), planned.name)
        if planned.version_header:
            headers.append(version_header(artifacts.ll_aton))
        else:
            refuse(VERSION_GATE, version_mismatch(artifacts.ll_aton, given.runtime, artifacts.source.name), ())
    plan = make_plan(given.board, given.profile, networks, given.claim_bytes)
    _say_elsewhere(given.board.flash, plan)
    texts = (plan_json(plan), generated_c.plan_source(plan), generated_c.pools_script(plan), *headers)
    for path, text in zip(call.outputs, texts, strict=True):
        write_atomically(path, text)


def _say_elsewhere(flash: BoardFlash, plan: MemoryPlan) -> None:
    models = {network.name: network.model for network in plan.networks}
    for image, slots in elsewhere(flash, plan.images):
        names = " and ".join(f"'{name}'" for name in slots)
        taken = f"; it takes room from slot {names}" if slots else ""
        place = f"0x{image.source:08X} for the weights of {models[image.network]}"
        say("Slot", place, f"where its code reads them{taken}")
