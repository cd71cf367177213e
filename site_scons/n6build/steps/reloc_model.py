"""Steps for a relocatable model: sources, network_rel.bin, separate weights.

Step for the generated sources of a relocatable model, and its description. The sources are compiled
and linked besides network.c. Later steps read the description.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import read_text, write_atomically, write_chunks_atomically
from n6build.base.findings import refuse
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.compile.artifacts.signature import network_signature
from n6build.compile.runtimes import VERSION_GATE, RuntimeVersion, check_epochs, version_header, version_mismatch
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.reloc.binary import crc32_of, model_file, with_blobs, write_model
from n6build.place.reloc.compilation import CONF_HEADER
from n6build.place.reloc.description import describe, description_json, read_description
from n6build.place.reloc.linked_model import read_linked_model
from n6build.place.reloc.model_sources import RENDERED, reloc_sources
from n6build.place.reloc.pools import params_chunks, pool_table
from n6build.steps.compiled_network import NetworkFiles, described_by


def reloc_params_step(output: str, description: str, raws: Sequence[str], blobs_of: Step | None) -> Step:
    """Return the step that writes the separate weights.

    Args:
        output: Path of network_rel_params.bin.
        description: Description of the model in JSON.
        raws: Weight files of stage 1.
        blobs_of: Link step of a model whose blobs go in front of its weights, or None.
    """
    return Step(
        verb="Params",
        stage="reloc",
        outputs=(output,),
        sources=(*([blobs_of.name] if blobs_of else []), description, *raws),
        function="n6build.steps.reloc_model:make_reloc_params",
    )


def make_reloc_params(call: Call) -> None:
    """Write network_rel_params.bin."""
    sources = list(call.sources)
    # Of a model with blobs, the linked model is the first source.
    linked = read_linked_model(sources.pop(0)) if sources[0].suffix == ".elf" else None
    description, *raws = sources
    chunks = params_chunks(read_description(description).params_parts({raw.name: raw for raw in raws}))
    write_chunks_atomically(call.outputs[0], with_blobs(linked, chunks) if linked else chunks)


@dataclass(frozen=True)
class RelocSourcesParameters(NetworkFiles):
    """Parameters of the step.

    Attributes:
        runtime: Runtime of the model.
        secure: Compile for the secure state.
        of_board: The network has the pools of the board.
        waived: The version gate if it is waived, else nothing.
    """

    runtime: RuntimeVersion
    secure: bool
    of_board: bool
    waived: tuple[str, ...]


def reloc_sources_step(
    folder: str,
    network: Step,
    name: str,
    network_folder: str,
    runtime: RuntimeVersion,
    waived: Container[str],
    *,
    secure: bool,
    of_board: bool,
) -> Step:
    """Return the step that writes the sources of a relocatable model.

    Its outputs are configuration, pool table, wrapper, linker script and description, in this order.

    Args:
        folder: Folder for the outputs.
        network: Step of stage 1.
        name: Name of the network's files.
        network_folder: Folder of stage 1.
        runtime: Runtime of the model.
        waived: Ids of waived checks.
        secure: Compile for the secure state.
        of_board: The network has the pools of the board.
    """
    names = (
        CONF_HEADER,
        f"{name}_reloc_pools.c",
        f"{name}_reloc.c",
        f"{name}_reloc.ld",
        f"{name}_reloc.json",
    )
    gate = (VERSION_GATE,) if VERSION_GATE in waived else ()
    weights = tuple(Path(output).name for output in network.outputs if output.endswith(".raw"))
    parameters = RelocSourcesParameters(name, network_folder, weights, runtime, secure, of_board, gate)
    return Step(
        verb="Reloc",
        stage="reloc",
        outputs=tuple(f"{folder}/{each}" for each in names),
        sources=described_by(network.outputs),
        parameters=to_parameters(parameters),
        templates=tuple(project_path(path) for template in RENDERED for path in with_included(template)),
        function="n6build.steps.reloc_model:make_reloc_sources",
    )


def make_reloc_sources(call: Call) -> None:
    """Write the C files, the linker script and the description."""
    given = call.parameters_as(RelocSourcesParameters)
    artifacts = given.artifacts()
    check_epochs(artifacts, given.runtime, runs_blobs=False)
    refuse(VERSION_GATE, version_mismatch(artifacts.ll_aton, given.runtime, artifacts.source.name), given.waived)
    table = pool_table(artifacts, secure=given.secure, of_board=given.of_board)
    # Use the version that network.c requires. The version gate has compared it with the runtime's.
    version = given.runtime.version if given.waived else artifacts.ll_aton or given.runtime.version
    made = reloc_sources(artifacts, table, version, read_text(artifacts.source))
    described = describe(artifacts, table, network_signature(artifacts.source))
    wrapper = version_header(artifacts.ll_aton) + made.wrapper if given.waived else made.wrapper
    contents = (made.conf, made.pools, wrapper, made.script, description_json(described))
    for path, content in zip(call.outputs, contents, strict=True):
        write_atomically(path, content)


def reloc_model_step(output: str, link: Step, contents: Sequence[str] = ()) -> Step:
    """Return the step that makes a model.

    Args:
        output: Path of network_rel.bin.
        link: Link step of the model, with its map.
        contents: Description of the model in JSON and weight files of stage 1; empty for a model without weights, which
            do not affect it.
    """
    return Step(
        verb="Model",
        stage="reloc",
        outputs=(output,),
        sources=(*link.outputs, *contents),
        function="n6build.steps.reloc_model:make_reloc_model",
    )


def make_reloc_model(call: Call) -> None:
    """Write network_rel.bin."""
    elf, map_file, *contents = call.sources
    linked = read_linked_model(elf, map_file)
    if not contents:
        write_atomically(call.outputs[0], model_file(linked, None))
        return
    description, *raws = contents
    weights = read_description(description).params_parts({raw.name: raw for raw in raws})
    checked = crc32_of(with_blobs(linked, params_chunks(weights)))
    write_model(call.outputs[0], linked, with_blobs(linked, params_chunks(weights)), checked)
