"""Step for network_rel_params.bin, the separate weights of a relocatable model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.files import write_chunks_atomically
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.reloc.binary import with_blobs
from n6build.place.reloc.description import read_description
from n6build.place.reloc.linked_model import read_linked_model
from n6build.place.reloc.pools import params_chunks


@dataclass(frozen=True)
class RelocParamsParameters:
    """Parameters of the step.

    Attributes:
        has_blobs: The first source is the linked model, whose blobs are in the output.
    """

    has_blobs: bool


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
        parameters=to_parameters(RelocParamsParameters(blobs_of is not None)),
        function="n6build.steps.reloc_params:make_reloc_params",
    )


def make_reloc_params(call: Call) -> None:
    """Write network_rel_params.bin."""
    sources = list(call.sources)
    linked = read_linked_model(sources.pop(0)) if call.parameters_as(RelocParamsParameters).has_blobs else None
    description, *raws = sources
    chunks = params_chunks(read_description(description).params_parts({raw.name: raw for raw in raws}))
    write_chunks_atomically(call.outputs[0], with_blobs(linked, chunks) if linked else chunks)
