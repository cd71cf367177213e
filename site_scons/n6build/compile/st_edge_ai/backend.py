"""Backend st_edge_ai: ST's compiler makes network.c from a model, for the NPU."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.console import progress, say
from n6build.base.environment import CORE_DIR, Environment, read_environment
from n6build.base.errors import N6Error
from n6build.base.files import remove_others
from n6build.base.findings import refuse
from n6build.base.paths import project_path
from n6build.base.yaml_schema import Section
from n6build.compile.backend import Backend, Compilation, ModelSource, check_sha256, require_file
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.model_facts import (
    FLOAT_MODEL,
    IR_VERSION,
    KEPT_QUANTISATION,
    float_model,
    read_model_facts,
    unread_ir_version,
)
from n6build.compile.st_edge_ai.find import CoreVersion, Installation, digest_of_tool, find_tool, installed_version
from n6build.compile.st_edge_ai.run_compiler import compile_network, output_names
from n6build.compile.st_edge_ai.st_edge_ai_options import CompilerOptions, check_options, with_profile
from n6build.engine.step import Call, Step, Tool, to_parameters


@dataclass(frozen=True)
class StEdgeAiNetworkParameters:
    """The parameters of a compilation.

    Attributes:
        name: Name of the network.
        pools: Memory pools.
        sha256: Expected hash of the model file, or None.
        waived: Ids of waived checks among those of this step.
        options: Options of the compiler.
        version: Release of ST Edge AI Core.
        relocatable: Make a relocatable model, too.
    """

    name: str
    pools: tuple[MemoryPool, ...]
    sha256: str | None
    waived: tuple[str, ...]
    options: CompilerOptions
    version: CoreVersion
    relocatable: bool


def _check(source: ModelSource) -> None:
    require_file("st_edge_ai", source)


def _check_options(section: Section) -> None:
    check_options(section.load(CompilerOptions), section.where("arguments"))


def _step(given: Compilation) -> Step:
    """Return the step that compiles the model.

    Raises:
        N6Error: N6-STAI-004 if the tool is missing; N6-STAI-00x for its version; N6-STAI-013 and
            N6-PROFILE-00x for a profile.
    """
    source, name = given.source, given.name
    installation = _installed(given.environment)
    version = installed_version(installation, dict(given.environment.stedgeai), given.notes)
    described = source.options.load(CompilerOptions) if source.options else CompilerOptions()
    options = with_profile(described, source.described_in)
    waived = tuple(id for id in (KEPT_QUANTISATION, FLOAT_MODEL, IR_VERSION) if id in source.waived)
    relocatable = given.relocatable and version.makes_relocatable
    parameters = StEdgeAiNetworkParameters(name, given.pools, source.sha256, waived, options, version, relocatable)
    names = (*output_names(name, given.pools, options, version, relocatable=relocatable), f"{name}_stedgeai.log")
    return Step(
        verb="Network",
        stage="network",
        outputs=tuple(f"{given.folder}/{each}" for each in names),
        sources=(project_path(require_file("st_edge_ai", source)),),
        parameters=to_parameters(parameters),
        tools=(Tool("stedgeai", digest_of_tool(installation)),),
        # The step finds the tool there; its version and digest are signed.
        state=(project_path(installation.root or installation.executable.parent),),
        function="n6build.compile.st_edge_ai.backend:make_st_edge_ai_network",
    )


BACKEND = Backend(
    name="st_edge_ai",
    preference=1,
    strict=False,
    exact=False,
    for_npu=True,
    suits=lambda source, environment: source.file is not None and find_tool(environment) is not None,
    check=_check,
    check_options=_check_options,
    step=_step,
    # The operators that run on the CPU are in ST's library.
    kernels=lambda _: (),
)


def _installed(environment: Environment) -> Installation:
    installation = find_tool(environment)
    if installation is None:
        hint = f"set {CORE_DIR} to the root of ST Edge AI Core, or use backend=reference"
        raise N6Error("N6-STAI-004", "ST Edge AI Core was not found", hint=hint)
    return installation


def make_st_edge_ai_network(call: Call) -> None:
    """Compile the model.

    Raises:
        N6Error: N6-MODEL-006; N6-MODEL-020; N6-CHECK-016 and N6-CHECK-020 unless they are waived;
            N6-STAI-004; and as `compile_network`.
    """
    given = call.parameters_as(StEdgeAiNetworkParameters)
    # The tool's place may differ between machines; its version and its digest are signed.
    environment = read_environment()
    model, folder, name = call.sources[0], call.outputs[0].parent, given.name
    check_sha256(model, given.sha256)
    facts = read_model_facts(model)
    refuse(FLOAT_MODEL, float_model(facts, model.name), given.waived)
    refuse(IR_VERSION, unread_ir_version(facts, given.version.text, model.name), given.waived)
    say("Backend", "st_edge_ai", f"ST Edge AI Core {given.version.text}")
    # Files that another tool left there would be mistaken for files of this network.
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
        relocatable=given.relocatable,
    )
