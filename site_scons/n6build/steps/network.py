"""Stage 1: each model of an application becomes network.c and its weights, by the backend that takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.environment import CORE_DIR, Environment
from n6build.base.errors import N6Error
from n6build.hardware.boards import Board
from n6build.models.model import Model
from n6build.models.names import network_names
from n6build.network.pools.board_pools import pools_of_networks, relocatable
from n6build.network.pools.memory_pools import MemoryPool
from n6build.network.runtimes import Runtime
from n6build.network.st_edge_ai.find import find_tool
from n6build.plan.step import Step
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.prebuilt_network import prebuilt_network_step
from n6build.steps.reference_network import reference_network_step
from n6build.steps.st_edge_ai_network import st_edge_ai_network_step


@dataclass(frozen=True)
class Stage1:
    """What stage 1 needs to know beside the models. backend: as asked for. loader: linked, or reloc. notes: folder for what
    ST's tool has said of itself."""

    board: Board
    profile: str
    backend: str
    loader: str
    runtime: Runtime
    environment: Environment
    notes: Path | None


def network_steps(folder: str, models: Sequence[Model], given: Stage1) -> tuple[NetworkSteps, ...]:
    """A single network goes to <folder>/network, several to a folder each, and each gets its part of the pool for weights.

    Raises N6Error for pools that are no good, a backend that cannot take a model, and tools that are not there.
    """
    names = network_names(models)
    pools_of_each = pools_of_networks(given.board, given.profile, [model.network.pools for model in models])
    networks = []
    for model, name, absolute in zip(models, names, pools_of_each, strict=True):
        pools = relocatable(absolute) if given.loader == "reloc" else absolute
        own = f"{folder}/network" if len(models) == 1 else f"{folder}/{name}"
        backend = _backend_of(model, given)
        networks.append(
            NetworkSteps(model, name, own, backend, absolute, _step(backend, own, model, pools, name, given))
        )
    return tuple(networks)


def _step(backend: str, folder: str, model: Model, pools: Sequence[MemoryPool], name: str, given: Stage1) -> Step:
    if backend == "prebuilt":
        return prebuilt_network_step(folder, model, name)
    if backend == "st_edge_ai":
        return st_edge_ai_network_step(folder, model, pools, name, given.environment, given.notes)
    return reference_network_step(folder, model, pools, name, given.runtime.version)


def _backend_of(model: Model, given: Stage1) -> str:
    """The command line is stronger than model.yaml. Raises N6-NET-024 where a backend cannot take the model."""
    asked = given.backend if given.backend != "auto" else model.network.backend
    if asked == "auto":
        asked = "prebuilt" if model.prebuilt else "st_edge_ai" if find_tool(given.environment) else "reference"
    if asked == "prebuilt" and not model.prebuilt:
        hint = "model.yaml names the folder: network.folder"
        raise N6Error("N6-NET-024", "there is no compiled network to take", where=model.name, hint=hint)
    if asked != "prebuilt" and not model.file:
        raise N6Error("N6-NET-024", f"backend {asked} needs the model file", where=model.name, hint="backend=prebuilt")
    if asked == "reference" and model.file and model.file.suffix != ".tflite":
        what = f"the reference backend reads .tflite, not {model.file.suffix}"
        hint = f"{CORE_DIR} names ST's tool, which reads both; or convert the model"
        raise N6Error("N6-NET-024", what, where=model.file.name, hint=hint)
    return str(asked)
