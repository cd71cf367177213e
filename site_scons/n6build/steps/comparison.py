"""The plan of target compare, which needs no board and builds nothing."""

from __future__ import annotations

from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import is_file
from n6build.base.paths import project_path
from n6build.describe.choices import Choices
from n6build.describe.model import Tolerance, load_model, models_folder
from n6build.engine.plan import Plan, make_plan
from n6build.steps.compare_board import CompareBoardParameters, compare_board_step
from n6build.steps.quantise_model import quantise_steps, with_int8_file

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
