"""Target compare: captured outputs against the reference, without a board.

Step of target compare: captured outputs against the reference interpreter. It also names the known
cause that explains a difference.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import is_file, to_json, write_atomically
from n6build.base.npy import npy_of
from n6build.base.paths import project_path
from n6build.describe.choices import Choices
from n6build.describe.model import Tolerance, load_model, models_folder
from n6build.engine.plan import Plan, make_plan
from n6build.engine.step import Call, Step, to_parameters
from n6build.judge.compare.limits import package_of
from n6build.place.memory_plan.vectors import SEEDED
from n6build.steps.quantise_model import quantise_steps, with_int8_file


@dataclass(frozen=True)
class CompareBoardParameters:
    """Parameters of the step.

    Attributes:
        folder: Folder for compare.json, and for inputs.npy if inputs are seeded.
        reference: Model file.
        inputs: File with the model's inputs; empty for seeded inputs, which this step makes.
        captured: Files with the outputs of the board.
        tolerance: Allowed difference of outputs.
        classes: Number of the model's classes.
    """

    folder: str
    reference: str
    inputs: str
    captured: tuple[str, ...]
    tolerance: Tolerance
    classes: int


def compare_board_step(parameters: CompareBoardParameters) -> Step:
    """Return the step that compares."""
    files = (parameters.reference, *parameters.captured, parameters.inputs)
    return Step(
        verb="Compare",
        stage="run",
        # The engine removes outputs of a failed step, but compare.json matters most after a failure.
        outputs=(f"{parameters.folder}.compared",),
        sources=tuple(dict.fromkeys(filter(None, files))),
        parameters=to_parameters(parameters),
        state=(parameters.folder,),
        function="n6build.steps.comparison:perform_compare_board",
        # Each request for this target compares again.
        always=True,
        shared=False,
    )


def perform_compare_board(call: Call) -> None:
    """Compare, print the result and write compare.json.

    Raises:
        N6Error: N6-CAPTURE-00x if a capture or the inputs cannot be used; N6-CAPTURE-006, after
            writing, if outputs are outside the tolerance.
    """
    from n6build.board.run.board_capture import compare_captures, seeded_inputs  # noqa: PLC0415 - planning compares nothing.
    from n6build.board.run.capture_text import output_lines, remedy_of  # noqa: PLC0415

    given = call.parameters_as(CompareBoardParameters)
    model = Path(given.reference)
    inputs = Path(given.inputs or f"{given.folder}/inputs.npy")
    if not given.inputs:
        write_atomically(inputs, npy_of(seeded_inputs(model)))
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


COMPARE = "compare"
_HINT = "n6build compare model=net.tflite captured=out.bin inputs=in.npy"


def check_compare(choices: Choices, goals: frozenset[str]) -> None:
    """Check the goals and options of target compare.

    Args:
        choices: Choices of the command line.
        goals: All requested goals.

    Raises:
        N6Error: N6-CAPTURE-005 if other goals are requested, or captured outputs or a single model are
            missing.
    """
    if COMPARE not in goals:
        return
    what = ""
    if goals != {COMPARE}:
        what = "target compare does not go with other targets: it needs no board and builds nothing"
    elif not choices.captured:
        what = "no captured outputs are named"
    elif len(choices.models) != 1:
        what = "target compare is for a single model"
    if what:
        raise N6Error("N6-CAPTURE-005", what, hint=_HINT)


def compare_plan(choices: Choices) -> Plan:
    """Return the plan of target compare.

    Args:
        choices: Choices with a single model.

    Raises:
        N6Error: N6-MODEL-00x for an invalid model; N6-CAPTURE-001 if a file is missing; N6-CAPTURE-005
            if no interpreter runs the model.
    """
    (name,) = choices.models
    model = with_int8_file(load_model(name, models_folder(name), relative_to=Path(choices.launched)), choices)
    if model.reference is None:
        what = f"no interpreter can run {model.name}: {model.not_compared or 'model.yaml names no model for it'}"
        raise N6Error("N6-CAPTURE-005", what, hint="set reference.model in model.yaml, or model=net.tflite")
    for option, files in {"captured": choices.captured, "inputs": (choices.inputs,)}.items():
        for file in files:
            if file and not is_file(Path(file)):
                raise N6Error(
                    "N6-CAPTURE-001", "the file does not exist", where=project_path(file), hint=f"option {option}"
                )
    inputs = choices.inputs or (str(model.inputs) if model.inputs else "")
    parameters = CompareBoardParameters(
        f"{choices.build}/{COMPARE}/{model.name}",
        project_path(model.reference),
        project_path(inputs) if inputs else "",
        tuple(map(project_path, choices.captured)),
        model.tolerance or Tolerance(),
        len(model.classes),
    )
    step = compare_board_step(parameters)
    return make_plan([*quantise_steps(model, compiles=False)[:1], step], {COMPARE: step.outputs})
