"""What the reference interpreter makes of a network's inputs: a row of outputs for each, as the network gives them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.compare.installed import INSTALL, missing_interpreter, package_of
from n6build.memory_plan.vectors import read_vectors
from n6build.network.artifacts.read_artifacts import read_artifacts
from n6build.plan.step import Call, Step, to_parameters
from n6build.steps.compiled_network import NetworkSteps


@dataclass(frozen=True)
class Parameters:
    """The network's files are among the sources, after the model and its inputs. weights: names of its raw files, which are
    not."""

    name: str
    folder: str
    weights: tuple[str, ...]


@dataclass(frozen=True)
class Expected:
    """What the outputs of a network are compared with. file: a row for each vector, empty where there is nothing. against: what
    it is, in words. not_compared: why there is nothing. step: that makes the file, None for a stored one. why_not: file with the
    reason where that step made an empty file; empty where such a step fails instead."""

    file: str = ""
    against: str = ""
    not_compared: str = ""
    step: Step | None = None
    why_not: str = ""


def expected_outputs(folder: str, network: NetworkSteps, inputs: str, expected: str) -> Expected:
    """folder: of the application. inputs, expected: files that take the place of the model's own vectors, empty for those."""
    model = network.model
    stored = expected or (str(model.expected) if model.expected and not inputs else "")
    if stored:
        return Expected(project_path(stored), Path(stored).name)
    if model.not_compared:
        return Expected(not_compared=model.not_compared)
    if model.reference is None:
        return Expected(not_compared="model.yaml names no model for an interpreter (reference.model)")
    missing = missing_interpreter(model.reference)
    if missing:
        return Expected(not_compared=f"{missing} is not installed, which runs {model.reference.name}; {INSTALL}")
    # Who gave no inputs has not asked for a comparison: one that is impossible is a reason, and no error.
    why_not = "" if inputs or not network.seeded else f"{folder}/reference/{network.name}.txt"
    outputs = (f"{folder}/reference/{network.name}.npy", *([why_not] if why_not else []))
    step = _step(outputs, network, model.reference, inputs or network.inputs)
    return Expected(step.name, f"{model.reference.name} on {package_of(model.reference)}", step=step, why_not=why_not)


def _step(outputs: tuple[str, ...], network: NetworkSteps, reference: Path, inputs: str) -> Step:
    return Step(
        verb="Reference",
        stage="run",
        outputs=outputs,
        sources=tuple(dict.fromkeys((project_path(reference), project_path(inputs), *network.described))),
        parameters=to_parameters(Parameters(network.name, network.folder, network.weights)),
        function="n6build.steps.reference_outputs:make",
        # onnxruntime computes in floating point, in the order that suits the processor.
        shared=reference.suffix == ".tflite",
    )


def make(call: Call) -> None:
    """Write the outputs, or with a second output the reason why there are none. Raises N6-COMPARE-00x, N6-VEC-00x."""
    from n6build.run.reference import reference_npy  # noqa: PLC0415 - planning computes nothing.

    given = call.parameters_as(Parameters)
    model, vectors = call.sources[0], read_vectors(call.sources[1])
    artifacts = read_artifacts(Path(given.folder), given.name, given.weights)
    outputs, why_not = b"", ""
    try:
        outputs = reference_npy(model, artifacts, vectors)
    except N6Error as error:
        # The interpreter refuses the model, or its inputs and outputs cannot be joined with the network's.
        if len(call.outputs) == 1 or not error.id.startswith("N6-COMPARE-"):
            raise
        why_not = f"{error.where}: {error.what}" if error.where else error.what
    for path, content in zip(call.outputs, (outputs, why_not.encode()), strict=False):
        write_atomically(path, content)
    if why_not:
        say("Note", f"nothing to compare with: {why_not}")
        return
    say("Interpreted", model.name, f"{vectors.count} inferences on {package_of(model)}")
