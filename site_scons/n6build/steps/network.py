"""Stage 1: compiles each model to network.c and weights, with its backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.environment import Environment
from n6build.base.files import require_content
from n6build.base.findings import refuse
from n6build.check.checked_board import checked_board
from n6build.check.rules.memory import LACKED_MEMORY, lacked_memory
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.backend import Compilation, ModelSource
from n6build.compile.backends import BACKENDS, backend_for
from n6build.compile.board_pools import pools_of_networks, relocatable, roomier_profiles
from n6build.compile.runtimes import Runtime
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import home_of_board, known_boards, load_board
from n6build.describe.model import Model
from n6build.describe.network_names import network_names
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.foreign_model import given_network
from n6build.steps.quantise_model import quantise_steps


@dataclass(frozen=True)
class Stage1:
    """Inputs of stage 1 besides the models.

    Attributes:
        board: Board of the application.
        profile: Memory profile.
        backend: Value of option backend.
        loader: Value of option loader, 'linked' or 'reloc'.
        runtime: Linked runtime.
        environment: Tools and paths of this machine.
        notes: Folder for the output of ST's tool about itself; None to keep nothing.
        relocatable: Also make <name>_rel.bin, if the backend can.
    """

    board: Board
    profile: str
    backend: str
    loader: str
    runtime: Runtime
    environment: Environment
    notes: Path | None
    relocatable: bool = False


def network_steps(folder: str, models: Sequence[Model], given: Stage1) -> tuple[NetworkSteps, ...]:
    """Return the steps that compile the networks.

    A single network goes to <folder>/network. Each of several networks goes to a folder of its own, and
    gets its part of the pool for weights.

    Args:
        folder: Folder of the application.
        models: Models of the application.
        given: Further inputs of stage 1.

    Raises:
        N6Error: The error of the failed check, if pools are invalid, Git LFS has not downloaded a
            model, a backend does not support a model, tools are missing, or a compiled network uses
            memory that the board lacks.
    """
    names = network_names(models)
    if not models:
        return ()
    pools_of_each = pools_of_networks(given.board, given.profile, [model.network.pools for model in models])
    roomier = roomier_profiles(given.board, given.profile)
    networks = []
    for model, name, absolute in zip(models, names, pools_of_each, strict=True):
        check_options(model)
        if file := model.float_file or model.file:
            require_content(file)
        own_folder = f"{folder}/network" if len(models) == 1 else f"{folder}/{name}"
        if model.relocatable:
            networks.append(given_network(own_folder, name, model, given.board, given.runtime.identity))
            continue
        # The command line overrides model.yaml.
        asked = given.backend if given.backend != "auto" else model.network.backend
        backend = backend_for(_source(model, asked), asked, given.environment)
        compilation = Compilation(
            source=_source(model, backend.name),
            name=name,
            folder=own_folder,
            pools=relocatable(absolute) if given.loader == "reloc" else absolute,
            ll_aton=given.runtime.version,
            environment=given.environment,
            notes=given.notes,
            roomier=roomier,
            relocatable=given.relocatable,
        )
        step = backend.step(compilation)
        if not backend.takes_pools:
            _refuse_lacked_memory(given.board, model, Path(step.sources[0]))
        kernels = backend.kernels(compilation)
        # Backends of n6build read the model as the reference compiler does.
        before = quantise_steps(model, compiles=backend.strict)
        networks.append(NetworkSteps(model, name, compilation.folder, backend, absolute, step, kernels, before=before))
    return tuple(networks)


def _refuse_lacked_memory(board: Board, model: Model, source: Path) -> None:
    """Reject a network compiled for memory that the board lacks, with N6-CHECK-002."""
    artifacts = read_artifacts(source.parent, source.stem, ())
    if not any(lacked_memory(checked_board(board), model.name, artifacts)):
        return
    others = (checked_board(load_board(name, home_of_board(name))) for name in known_boards() if name != board.name)
    have_it = [other.name for other in others if not any(lacked_memory(other, model.name, artifacts))]
    refuse(LACKED_MEMORY, next(lacked_memory(checked_board(board), model.name, artifacts, have_it)), model.waived)


def check_options(model: Model) -> None:
    """Check the options of all backends, even of those that are not used.

    Raises:
        N6Error: N6-YAML-00x and the errors of backends for invalid options.
    """
    for backend in BACKENDS:
        if section := model.network.backends.get(backend.name):
            backend.check_options(section)


def _source(model: Model, backend: str) -> ModelSource:
    return ModelSource(
        name=model.name,
        file=model.file,
        sha256=model.sha256,
        folder=model.prebuilt,
        described_in=model.description_file.parent if model.description_file else None,
        options=model.network.backends.get(backend),
        waived=tuple(sorted(model.waived)),
        vectors=model.inputs,
        is_made=model.float_file is not None,
    )
