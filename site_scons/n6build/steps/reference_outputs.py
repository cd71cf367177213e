"""Step for the outputs of the reference interpreter: a row for each test vector.

Each row has the outputs in the order and form of the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.engine.step import Call, Step, to_parameters
from n6build.judge.compare.limits import INSTALL, missing_interpreter, package_of
from n6build.place.memory_plan.vectors import read_vectors
from n6build.steps.compiled_network import NetworkFiles, NetworkSteps


@dataclass(frozen=True)
class Expected:
    """Expected outputs that the outputs of a network are compared with.

    Attributes:
        file: File with a row for each vector; empty without expected outputs.
        against: Source of the expected outputs, in words.
        not_compared: Reason for missing expected outputs.
        step: Step that makes the file; None for a stored file.
        why_not: File with the reason if that step makes an empty file; empty if the step fails instead.
        nudged: File with the cosine of `ReferenceOutputs.nudged`; empty without one.
        approximates: The reference computes functions of float32 by approximations of its own.
    """

    file: str = ""
    against: str = ""
    not_compared: str = ""
    step: Step | None = None
    why_not: str = ""
    nudged: str = ""
    approximates: bool = False


def expected_outputs(folder: str, network: NetworkSteps, inputs: str, expected: str) -> Expected:
    """Return the expected outputs of a network.

    Args:
        folder: Folder of the application.
        network: Compiled network.
        inputs: File that replaces the model's inputs; empty for the model's own.
        expected: File that replaces the model's expected outputs; empty for the model's own.
    """
    model = network.model
    stored = expected or (str(model.expected) if model.expected and not inputs else "")
    if stored:
        return Expected(project_path(stored), Path(stored).name)
    if model.not_compared:
        return Expected(not_compared=model.not_compared)
    if model.reference is None:
        return Expected(not_compared="model.yaml names no model for the interpreter (reference.model)")
    missing = missing_interpreter(model.reference)
    if missing:
        return Expected(
            not_compared=f"package {missing}, which runs {model.reference.name}, is not installed; {INSTALL}"
        )
    # Seeded inputs do not request a comparison, so that an impossible one is a reason and not an error.
    why_not = "" if inputs or not network.seeded or network.is_sampled else f"{folder}/reference/{network.name}.txt"
    # Outputs that have to be equal are equal for noise, too.
    nudged = f"{folder}/reference/{network.name}.nudged" if why_not and not network.backend.exact else ""
    outputs = (f"{folder}/reference/{network.name}.npy", *(file for file in (why_not, nudged) if file))
    step = _step(outputs, network, model.reference, inputs or network.inputs)
    against = f"{model.reference.name} on {package_of(model.reference)}"
    return Expected(
        step.name, against, step=step, why_not=why_not, nudged=nudged, approximates=model.reference.suffix == ".onnx"
    )


def _step(outputs: tuple[str, ...], network: NetworkSteps, reference: Path, inputs: str) -> Step:
    return Step(
        verb="Reference",
        stage="run",
        outputs=outputs,
        sources=tuple(dict.fromkeys((project_path(reference), project_path(inputs), *network.described))),
        parameters=to_parameters(network.files),
        function="n6build.steps.reference_outputs:make_reference_outputs",
        # onnxruntime computes in floating point, in an order that depends on the processor.
        shared=reference.suffix == ".tflite",
    )


def make_reference_outputs(call: Call) -> None:
    """Write the outputs, or the reason for missing outputs into the second output.

    A third output gets the cosine of `ReferenceOutputs.nudged`.

    Raises:
        N6Error: N6-COMPARE-00x if the interpreter rejects the model and there is no second output;
            N6-VEC-00x if the inputs are invalid.
    """
    from n6build.board.run.reference import reference_outputs  # noqa: PLC0415 - planning computes nothing.

    given = call.parameters_as(NetworkFiles)
    model, vectors = call.sources[0], read_vectors(call.sources[1])
    artifacts = given.artifacts()
    outputs, why_not, nudged = b"", "", ""
    try:
        made = reference_outputs(model, artifacts, vectors, nudge=len(call.outputs) > 2)
        outputs, nudged = made.npy, "" if made.nudged is None else f"{made.nudged:.6f}"
    except N6Error as error:
        # The interpreter rejects the model, or its inputs and outputs do not match the network's.
        if len(call.outputs) == 1 or not error.id.startswith("N6-COMPARE-"):
            raise
        why_not = f"{error.where}: {error.what}" if error.where else error.what
    for path, content in zip(call.outputs, (outputs, why_not.encode(), nudged.encode()), strict=False):
        write_atomically(path, content)
    if why_not:
        say("Note", f"no reference for a comparison: {why_not}")
        return
    say("Interpreted", model.name, f"{vectors.count} inferences on {package_of(model)}")
