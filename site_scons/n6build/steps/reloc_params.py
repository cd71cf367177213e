"""network_rel_params.bin: the weights of a relocatable model, if they are in a separate file."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.files import write_chunks_atomically
from n6build.plan.step import Call, Step
from n6build.reloc.description import read_description
from n6build.reloc.pools import params_chunks


def reloc_params_step(output: str, description: str, raws: Sequence[str]) -> Step:
    """description: of the model, in JSON. raws: files of weights, as stage 1 makes them."""
    return Step(
        verb="Params",
        stage="reloc",
        outputs=(output,),
        sources=(description, *raws),
        function="n6build.steps.reloc_params:make",
    )


def make(call: Call) -> None:
    """Writes network_rel_params.bin."""
    description, *raws = call.sources
    parts = read_description(description).params_parts({raw.name: raw for raw in raws})
    write_chunks_atomically(call.outputs[0], params_chunks(parts))
