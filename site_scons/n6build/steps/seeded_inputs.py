"""Step for seeded random inputs of a network whose model has no test vectors.

The inputs are a .npy file, which you can also use on another board.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.console import say
from n6build.base.files import write_atomically
from n6build.base.npy import npy_of
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.memory_plan.seeded_vectors import SEEDED, seeded_array
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.sampled_inputs import sampled_inputs_step


@dataclass(frozen=True)
class SeededInputsParameters:
    """Parameters of the step; the network's files are its sources.

    Attributes:
        name: Name of the network.
        folder: Folder of the network's files.
        weights: Names of the raw files, which are not read.
    """

    name: str
    folder: str
    weights: tuple[str, ...]


def with_inputs(folder: str, network: NetworkSteps) -> NetworkSteps:
    """Return the network with a step that makes inputs, if its model has none.

    A model that is quantised here runs on its first samples, another one on random inputs.

    Args:
        folder: Folder of the application.
        network: Network of the application.
    """
    if network.model.inputs:
        return network
    if network.model.float_file:
        return replace(network, seeded=sampled_inputs_step(folder, network), is_sampled=True)
    step = Step(
        verb="Inputs",
        stage="image",
        outputs=(f"{folder}/inputs/{network.name}.npy",),
        sources=network.described,
        parameters=to_parameters(SeededInputsParameters(network.name, network.folder, network.weights)),
        function="n6build.steps.seeded_inputs:make_seeded_inputs",
    )
    return replace(network, seeded=step)


def make_seeded_inputs(call: Call) -> None:
    """Write the inputs."""
    given = call.parameters_as(SeededInputsParameters)
    array = seeded_array(read_artifacts(Path(given.folder), given.name, given.weights).inputs)
    write_atomically(call.outputs[0], npy_of(array))
    say("Seeded", given.name, f"{len(array)} {SEEDED}; set vectors.inputs in model.yaml for other inputs")
