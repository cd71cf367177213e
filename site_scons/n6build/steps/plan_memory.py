"""Step for memory_plan.json of linked networks, with C tables and linker symbols."""

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
from n6build.compile.runtimes import VERSION_GATE, RuntimeVersion, check_epochs, version_header, version_mismatch
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.slots import BoardFlash
from n6build.engine.step import Call, Step, to_parameters
from n6build.judge.own_blobs.digests import require_proved
from n6build.place.memory_plan import plan_tables
from n6build.place.memory_plan.board_memory import BoardMemory, memory_of
from n6build.place.memory_plan.build_plan import CompiledNetwork, compiled_network, make_plan
from n6build.place.memory_plan.images import elsewhere
from n6build.place.memory_plan.plan import MemoryPlan, plan_json
from n6build.place.memory_plan.vectors import NO_VECTORS, VectorShape, read_vectors
from n6build.steps.compiled_network import NetworkFiles, NetworkSteps


@dataclass(frozen=True)
class PlannedNetwork(NetworkFiles):
    """A network as the memory plan receives it.

    Attributes:
        model: Name of the model.
        is_classification: The output is a class.
        inputs: File of the test vectors; empty without vectors or with seeded ones.
        vectors: Shape of the test vectors; None if the file cannot be read.
        is_seeded: The test vectors are seeded.
        version_header: Header for the compiler; empty unless the version gate is waived.
    """

    model: str
    is_classification: bool
    inputs: str
    vectors: VectorShape | None
    is_seeded: bool = False
    version_header: str = ""


@dataclass(frozen=True)
class PlanParameters:
    """Common parameters of both kinds of memory plan.

    Attributes:
        board: Memory of the board.
        profile: Memory profile.
        networks: Networks of the application.
        verified: The Appli verifies the images of its release.
    """

    board: BoardMemory
    profile: str
    networks: tuple[PlannedNetwork, ...]
    verified: bool


@dataclass(frozen=True)
class PlanMemoryParameters(PlanParameters):
    """Parameters of the step; `runtime` is the one linked with the Appli."""

    runtime: RuntimeVersion


def memory_plan_step(
    folder: str,
    board: Board,
    profile: str,
    networks: Sequence[NetworkSteps],
    runtime: RuntimeVersion,
    *,
    verified: bool,
    has_own_main: bool,
) -> Step:
    """Return the step that plans the memory of linked networks.

    Args:
        folder: Folder of the application.
        board: Board of the application.
        profile: Memory profile.
        networks: Networks of the application.
        runtime: Runtime linked with the Appli.
        verified: The Appli verifies the images of its release.
        has_own_main: A third-party program calls the networks, and its linker script places all buffers.

    Raises:
        N6Error: N6-POOL-00x if the regions of the external RAM cannot be laid out.
    """
    planned = tuple(
        replace(network, version_header=version_header_of(folder, each))
        for network, each in zip(planned_networks(networks), networks, strict=True)
    )
    memory = memory_of(board, sizes_of(networks))
    if has_own_main:
        memory = replace(memory, pool_region=None)
    parameters = PlanMemoryParameters(memory, profile, planned, verified, runtime)
    headers = tuple(each.version_header for each in planned if each.version_header)
    return Step(
        verb="Plan",
        stage="plan",
        outputs=(f"{folder}/memory_plan.json", f"{folder}/n6_memory_plan.c", f"{folder}/n6_pools.ld", *headers),
        sources=(*network_files(networks), *(file for each in networks for file in each.proved)),
        parameters=to_parameters(parameters),
        templates=tuple(map(project_path, with_included(plan_tables.TEMPLATE))),
        function="n6build.steps.plan_memory:perform_plan_memory",
    )


def version_header_of(folder: str, network: NetworkSteps) -> str:
    """Return the header for network.c if the version gate is waived, else "".

    Args:
        folder: Folder of the memory plan.
        network: Compiled network.
    """
    return f"{folder}/{network.name}_ll_aton_version.h" if VERSION_GATE in network.model.waived else ""


def planned_networks(networks: Sequence[NetworkSteps]) -> tuple[PlannedNetwork, ...]:
    """Return the networks as parameters of a step."""
    return tuple(
        PlannedNetwork(
            each.name,
            each.folder,
            each.weights,
            each.model.name,
            each.model.result == "classification",
            project_path(each.model.inputs) if each.model.inputs else "",
            _shape(each.model.inputs) if each.model.inputs else NO_VECTORS,
            is_seeded=each.seeded is not None,
        )
        for each in networks
    )


def sizes_of(networks: Sequence[NetworkSteps]) -> dict[str, int]:
    """Return the sizes in bytes of memory pools that models have changed."""
    return {name: size for each in networks for name, size in each.model.network.pools.items()}


def network_files(networks: Sequence[NetworkSteps]) -> tuple[str, ...]:
    """Return the outputs of stage 1 without weights, and unreadable test vectors.

    The step reports the error of unreadable vectors.
    """
    unread = (each.inputs for each in planned_networks(networks) if each.vectors is None)
    return tuple(dict.fromkeys((*(file for each in networks for file in each.described), *unread)))


def _shape(inputs: Path) -> VectorShape | None:
    try:
        return read_vectors(inputs).shape
    except N6Error:
        return None


def compiled(networks: Sequence[PlannedNetwork]) -> list[CompiledNetwork]:
    """Read the outputs of stage 1.

    Raises:
        N6Error: The errors of `read_artifacts` and `compiled_network`.
    """
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


def perform_plan_memory(call: Call) -> None:
    """Write memory_plan.json, n6_memory_plan.c, n6_pools.ld, and version headers.

    A version header is for a network of another ll_aton version.
    """
    given = call.parameters_as(PlanMemoryParameters)
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
    plan = make_plan(given.board, given.profile, networks)
    _say_elsewhere(given.board.flash, plan)
    texts = (
        plan_json(plan),
        plan_tables.plan_source(plan, verified=given.verified),
        plan_tables.pools_script(plan),
        *headers,
    )
    for path, text in zip(call.outputs, texts, strict=True):
        write_atomically(path, text)


def _say_elsewhere(flash: BoardFlash, plan: MemoryPlan) -> None:
    models = {network.name: network.model for network in plan.networks}
    for image, slots in elsewhere(flash, plan.images):
        names = " and ".join(f"'{name}'" for name in slots)
        taken = f"; it takes room from slot {names}" if slots else ""
        place = f"0x{image.source:08X} for the weights of {models[image.network]}"
        say("Slot", place, f"where its code reads them{taken}")
