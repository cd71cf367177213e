"""Step for a Haar cascade in the binary form of OpenMV's firmware."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.files import read_at_most, write_atomically
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.haar_cascade import MAX_BYTES, haar_cascade


@dataclass(frozen=True)
class CascadeParameters:
    """Parameters of the step.

    Attributes:
        stages: Number of stages to keep, from the first; 0 for all.
    """

    stages: int


def cascade_step(output: str, source: str, stages: int) -> Step:
    """Return the step that converts a cascade.

    Args:
        output: Path of the binary cascade.
        source: XML file of OpenCV.
        stages: Number of stages to keep, from the first; 0 for all.
    """
    return Step(
        verb="Cascade",
        stage="image",
        outputs=(output,),
        sources=(source,),
        parameters=to_parameters(CascadeParameters(stages)),
        function="n6build.steps.cascade:make_cascade",
    )


def make_cascade(call: Call) -> None:
    """Convert the cascade.

    Raises:
        N6Error: N6-ROMFS-008 if the cascade cannot be converted.
    """
    (source,) = call.sources
    stages = call.parameters_as(CascadeParameters).stages
    write_atomically(call.outputs[0], haar_cascade(read_at_most(source, MAX_BYTES), stages, source.name))
