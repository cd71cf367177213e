"""Steps for inputs of networks without vectors: random, or first samples.

Step for seeded random inputs of a network whose model has no test vectors. The inputs are a .npy
file, which you can also use on another board.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, write_atomically
from n6build.base.npy import npy_of
from n6build.base.paths import project_path
from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import Quantise
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.memory_plan.vectors import SEEDED, seeded_array, seeded_shape
from n6build.steps.compiled_network import NetworkFiles, NetworkSteps


@dataclass(frozen=True)
class SampledInputsParameters(NetworkFiles):
    """Parameters of the step.

    Its sources are the float model, the samples and the network's files.

    Attributes:
        samples: Number of files with samples.
        settings: Settings of stage 0.
        preprocess: Pre-processing of pictures, sounds and tables.
    """

    samples: int
    settings: Quantise
    preprocess: Preprocess


def sampled_inputs_step(folder: str, network: NetworkSteps) -> Step:
    """Return the step that takes as many samples as fit beside a network.

    Args:
        folder: Folder of the application.
        network: Network of a model that is quantised here.
    """
    model = network.model
    assert model.quantise and model.float_file
    quantise, *_ = network.before
    real, *samples = quantise.sources
    parameters = SampledInputsParameters(
        network.name, network.folder, network.weights, len(samples), model.quantise, model.preprocess
    )
    return Step(
        verb="Inputs",
        stage="image",
        outputs=(f"{folder}/inputs/{network.name}.npy",),
        sources=(project_path(real), *samples, *network.described),
        parameters=to_parameters(parameters),
        function="n6build.steps.seeded_inputs:make_sampled_inputs",
    )


def make_sampled_inputs(call: Call) -> None:
    """Write the inputs.

    Raises:
        N6Error: N6-QUANT-005 if the samples are not those of the network; N6-QUANT-001 to N6-QUANT-004.
    """
    import numpy as np  # noqa: PLC0415 - planning makes no vectors.

    from n6build.compile.quantise.opened_model import opened  # noqa: PLC0415
    from n6build.compile.quantise.samples import as_stored, fitted  # noqa: PLC0415

    given = call.parameters_as(SampledInputsParameters)
    real, files = call.sources[0], list(call.sources[1 : 1 + given.samples])
    digest_of(real)
    ports = given.artifacts().inputs
    found = opened(real, files, given.settings, given.preprocess)
    numbers = found.samples.spread(given.settings.most)[: seeded_shape(ports).count]
    samples = (fitted(found.samples, number, found.inputs) for number in numbers)
    rows = [
        [
            as_stored(values, port.type, port.scale, port.zero_point)
            for values, port in zip(sample.values(), ports, strict=False)
        ]
        for sample in samples
    ]
    wanted, made = [each.bytes for each in ports], [values.nbytes for values in rows[0]]
    if wanted != made:
        what = f"a sample has {made} bytes, but the network's inputs take {wanted}"
        raise N6Error("N6-QUANT-005", what, where=found.samples.name, hint="set vectors.inputs in model.yaml")
    if len(ports) == 1:
        array = np.stack([row[0].reshape(ports[0].shape) for row in rows])
    else:
        array = np.stack([np.frombuffer(b"".join(each.tobytes() for each in row), np.uint8) for row in rows])
    write_atomically(call.outputs[0], npy_of(array))
    say("Sampled", given.name, f"the first {len(rows)} of {found.samples.name}; set vectors.inputs for other inputs")


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
        parameters=to_parameters(network.files),
        function="n6build.steps.seeded_inputs:make_seeded_inputs",
    )
    return replace(network, seeded=step)


def make_seeded_inputs(call: Call) -> None:
    """Write the inputs."""
    given = call.parameters_as(NetworkFiles)
    array = seeded_array(given.artifacts().inputs)
    write_atomically(call.outputs[0], npy_of(array))
    say("Seeded", given.name, f"{len(array)} {SEEDED}; set vectors.inputs in model.yaml for other inputs")
