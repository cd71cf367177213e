"""Step for network_rel.bin, a relocatable model with or without its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.files import write_atomically
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.reloc.binary import crc32_of, model_file, with_blobs, write_model
from n6build.place.reloc.description import read_description
from n6build.place.reloc.linked_model import read_linked_model
from n6build.place.reloc.pools import params_chunks


@dataclass(frozen=True)
class RelocModelParameters:
    """Parameters of the step.

    Attributes:
        split: The weights are in a separate file.
    """

    split: bool


def reloc_model_step(output: str, link: Step, description: str, raws: Sequence[str]) -> Step:
    """Return the step that makes a model with its weights.

    Args:
        output: Path of network_rel.bin.
        link: Link step of the model, with its map.
        description: Description of the model in JSON.
        raws: Weight files of stage 1.
    """
    return Step(
        verb="Model",
        stage="reloc",
        outputs=(output,),
        sources=(*link.outputs, description, *raws),
        parameters=to_parameters(RelocModelParameters(split=False)),
        function="n6build.steps.reloc_model:make_reloc_model",
    )


def split_model_step(output: str, link: Step) -> Step:
    """Return the step that makes a model without weights, which do not affect it.

    Args:
        output: Path of network_rel.bin.
        link: Link step of the model, with its map.
    """
    return Step(
        verb="Model",
        stage="reloc",
        outputs=(output,),
        sources=link.outputs,
        parameters=to_parameters(RelocModelParameters(split=True)),
        function="n6build.steps.reloc_model:make_reloc_model",
    )


def make_reloc_model(call: Call) -> None:
    """Write network_rel.bin."""
    elf, map_file = call.sources[:2]
    linked = read_linked_model(elf, map_file)
    if call.parameters_as(RelocModelParameters).split:
        write_atomically(call.outputs[0], model_file(linked, None))
        return
    description, *raws = call.sources[2:]
    weights = read_description(description).params_parts({raw.name: raw for raw in raws})
    checked = crc32_of(with_blobs(linked, params_chunks(weights)))
    write_model(call.outputs[0], linked, with_blobs(linked, params_chunks(weights)), checked)
