"""Target compare: how far somebody's board is from the reference interpreter, and which known cause explains it."""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import to_json, write_atomically
from n6build.compare.installed import package_of
from n6build.memory_plan.seeded_vectors import SEEDED
from n6build.models.model import Tolerance
from n6build.plan.step import Call, Step, to_parameters


@dataclass(frozen=True)
class Parameters:
    """What is compared.

    Attributes:
        folder: For compare.json, and for inputs.npy where these are seeded.
        reference: File of the model.
        inputs: File with its inputs; empty for seeded ones, which are made here.
        captured: Files with the outputs of the board.
        tolerance: How far outputs may be away.
        classes: Number of the model's classes.
    """

    folder: str
    reference: str
    inputs: str
    captured: tuple[str, ...]
    tolerance: Tolerance
    classes: int


def compare_board_step(parameters: Parameters) -> Step:
    """Return the step that compares.

    Args:
        parameters: Of the step.
    """
    files = (parameters.reference, *parameters.captured, parameters.inputs)
    return Step(
        verb="Compare",
        stage="run",
        # An output would be removed where the comparison fails, which is when it matters most.
        outputs=(f"{parameters.folder}.compared",),
        sources=tuple(dict.fromkeys(filter(None, files))),
        parameters=to_parameters(parameters),
        state=(parameters.folder,),
        function="n6build.steps.compare_board:make",
        # Asking for it means comparing again.
        always=True,
        shared=False,
    )


def make(call: Call) -> None:
    """Compare, print the result and write compare.json.

    Raises:
        N6Error: N6-CAPTURE-00x; N6-CAPTURE-006 afterwards for outputs outside the tolerance.
    """
    import numpy as np  # noqa: PLC0415 - planning compares nothing.

    from n6build.run.board_capture import compare_captures, seeded_inputs  # noqa: PLC0415
    from n6build.run.capture_text import output_lines, remedy_of  # noqa: PLC0415

    given = call.parameters_as(Parameters)
    model = Path(given.reference)
    inputs = Path(given.inputs or f"{given.folder}/inputs.npy")
    if not given.inputs:
        buffer = io.BytesIO()
        np.save(buffer, seeded_inputs(model), allow_pickle=False)
        write_atomically(inputs, buffer.getvalue())
    compared = compare_captures(model, inputs, [Path(file) for file in given.captured], given.tolerance, given.classes)
    write_atomically(Path(given.folder) / "compare.json", to_json(asdict(compared)))
    whose = "" if given.inputs else f", {SEEDED}"
    say("Compared", model.name, f"{compared.vectors} vectors of {inputs.name}{whose}, on {package_of(model)}")
    for output in compared.outputs:
        for verb, subject, detail in output_lines(output, compared):
            say(verb, subject, detail)
    outside = [output for output in compared.outputs if not output.within]
    if outside:
        causes = [cause for output in outside for fit in output.fits for cause in fit.causes]
        what = f"{len(outside)} of {len(compared.outputs)} outputs are outside the tolerance"
        hint = next((remedy for cause in causes if (remedy := remedy_of(cause))), "")
        raise N6Error("N6-CAPTURE-006", what, where=outside[0].name, hint=hint or "docs/compare.md")
    write_atomically(call.outputs[0], "")
