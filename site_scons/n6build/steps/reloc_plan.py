"""Step for memory_plan.json of relocatable models, with its C table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.describe.hardware.board import Board
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.memory_plan import plan_tables
from n6build.place.memory_plan.board_memory import ModelsMemory, memory_of, models_memory_of
from n6build.place.memory_plan.build_plan import make_reloc_plan
from n6build.place.memory_plan.plan import PlannedModel, plan_json
from n6build.place.memory_plan.plan_tables import LoadMode
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.plan_memory import PlanParameters, compiled, network_files, planned_networks, sizes_of


@dataclass(frozen=True)
class RelocPlanParameters(PlanParameters):
    """Parameters of the step.

    Attributes:
        memory: Memory of the board for relocatable models.
        models: Models with their places in flash.
        load_mode: Load mode of all models.
    """

    memory: ModelsMemory
    models: tuple[PlannedModel, ...]
    load_mode: LoadMode


def reloc_plan_step(
    folder: str,
    board: Board,
    profile: str,
    networks: Sequence[NetworkSteps],
    models: Sequence[PlannedModel],
    load_mode: LoadMode,
    *,
    verified: bool,
) -> Step:
    """Return the step that plans the memory of relocatable models.

    Args:
        folder: Folder of the application.
        board: Board of the application.
        profile: Memory profile.
        networks: Networks of the application.
        models: Models with their places in flash.
        load_mode: Load mode of all models.
        verified: The Appli verifies the images of its release.

    Raises:
        N6Error: N6-POOL-00x if the regions of the external RAM cannot be laid out.
    """
    parameters = RelocPlanParameters(
        memory_of(board, sizes_of(networks)),
        profile,
        planned_networks(networks),
        verified,
        models_memory_of(board),
        tuple(models),
        load_mode,
    )
    return Step(
        verb="Plan",
        stage="plan",
        outputs=(f"{folder}/memory_plan.json", f"{folder}/n6_models.c"),
        sources=network_files(networks),
        parameters=to_parameters(parameters),
        templates=tuple(map(project_path, with_included(plan_tables.MODELS_TEMPLATE))),
        function="n6build.steps.reloc_plan:perform_reloc_plan",
    )


def perform_reloc_plan(call: Call) -> None:
    """Write memory_plan.json and n6_models.c."""
    given = call.parameters_as(RelocPlanParameters)
    plan = make_reloc_plan(given.board, given.profile, compiled(given.networks), given.models)
    source = plan_tables.models_source(plan, given.memory, given.load_mode, verified=given.verified)
    texts = (plan_json(plan), source)
    for path, text in zip(call.outputs, texts, strict=True):
        write_atomically(path, text)
