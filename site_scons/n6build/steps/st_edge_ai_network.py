"""Backend st_edge_ai: ST's compiler makes network.c of a model, for the NPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import progress, say
from n6build.base.environment import CORE_DIR, Environment, read_environment
from n6build.base.errors import N6Error
from n6build.base.files import remove_others
from n6build.base.findings import refuse
from n6build.base.paths import project_path
from n6build.models.model import Model, check_sha256
from n6build.network.model_facts import (
    FLOAT_MODEL,
    IR_VERSION,
    KEPT_QUANTISATION,
    float_model,
    read_model_facts,
    unread_ir_version,
)
from n6build.network.pools.memory_pools import MemoryPool
from n6build.network.st_edge_ai.compile import compile_network, output_names
from n6build.network.st_edge_ai.find import CoreVersion, Installation, digest_of_tool, find_tool, installed_version
from n6build.network.st_edge_ai.options import CompilerOptions, with_profile
from n6build.plan.step import Call, Step, Tool, to_parameters


@dataclass(frozen=True)
class Parameters:
    """waived: those of the checks below."""

    name: str
    pools: tuple[MemoryPool, ...]
    sha256: str | None
    waived: tuple[str, ...]
    options: CompilerOptions
    version: CoreVersion


def st_edge_ai_network_step(
    folder: str, model: Model, pools: Sequence[MemoryPool], name: str, environment: Environment, notes: Path | None
) -> Step:
    """notes: folder that keeps what the tool has said of its version.

    Raises N6-STAI-004 where it is not there, N6-STAI-00x for its version, N6-STAI-013 and N6-PROFILE-00x for a profile.
    """
    assert model.file is not None
    installation = _installed(environment)
    version = installed_version(installation, dict(environment.stedgeai), notes)
    described_in = model.description_file.parent if model.description_file else None
    options = with_profile(model.network.st_edge_ai, described_in)
    waived = tuple(id for id in (KEPT_QUANTISATION, FLOAT_MODEL, IR_VERSION) if id in model.waived)
    parameters = Parameters(name, tuple(pools), model.sha256, waived, options, version)
    names = (*output_names(name, pools, options, version), f"{name}_stedgeai.log")
    return Step(
        verb="Network",
        stage="network",
        outputs=tuple(f"{folder}/{each}" for each in names),
        sources=(project_path(model.file),),
        parameters=to_parameters(parameters),
        tools=(Tool("stedgeai", digest_of_tool(installation)),),
        # Where it is looked for when the step runs; what it is has been signed.
        state=(project_path(installation.root or installation.executable.parent),),
        function="n6build.steps.st_edge_ai_network:make",
    )


def _installed(environment: Environment) -> Installation:
    installation = find_tool(environment)
    if installation is None:
        hint = f"set {CORE_DIR} to the root of ST Edge AI Core, or use backend=reference"
        raise N6Error("N6-STAI-004", "ST Edge AI Core was not found", hint=hint)
    return installation


def make(call: Call) -> None:
    given = call.parameters_as(Parameters)
    # Where it is may differ between machines; its version and its digest are signed.
    environment = read_environment()
    model, folder, name = call.sources[0], call.outputs[0].parent, given.name
    check_sha256(model, given.sha256)
    facts = read_model_facts(model)
    refuse(FLOAT_MODEL, float_model(facts, model.name), given.waived)
    refuse(IR_VERSION, unread_ir_version(facts, given.version.text, model.name), given.waived)
    say("Backend", "st_edge_ai", f"ST Edge AI Core {given.version.text}")
    # What another tool has left there would be taken for this one's.
    remove_others(folder, {path.name for path in call.outputs})
    compile_network(
        model,
        given.pools,
        folder,
        name,
        given.options,
        _installed(environment),
        given.version,
        dict(environment.stedgeai),
        on_progress=lambda percent: progress("Compile", name, percent),
        on_note=lambda note: say("Note", name, note),
        waived=given.waived,
    )
