"""Step for the weights of one memory pool, as stored in flash."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.files import read_in_chunks, write_chunks_atomically
from n6build.compile.artifacts.weights import check_weights
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.memory_plan.plan import read_plan
from n6build.place.memory_plan.slot_image import slot_image, weights_slot_file


@dataclass(frozen=True)
class WeightsImageParameters:
    """Parameters of the step; `network` is the name of the network."""

    network: str


def weights_image_step(folder: str, raw: str, network: str, plan: str, networks: int) -> Step:
    """Return the step that makes the flash image of weights.

    Args:
        folder: Folder of the image.
        raw: Raw weight file of stage 1.
        network: Name of the network.
        plan: Path of memory_plan.json.
        networks: Number of networks in the application.
    """
    return Step(
        verb="Weights",
        stage="image",
        outputs=(f"{folder}/{weights_slot_file(raw.rpartition('/')[2], network, networks)}",),
        sources=(raw, plan),
        parameters=to_parameters(WeightsImageParameters(network)),
        function="n6build.steps.weights_image:make_weights_image",
    )


def make_weights_image(call: Call) -> None:
    """Write the weights with their trailer.

    The image is empty if the network compiler put nothing into the pool.

    Raises:
        N6Error: N6-NET-021 if the raw file does not have the size in the plan.
    """
    network = call.parameters_as(WeightsImageParameters).network
    raw, plan = call.sources
    images = [each for each in read_plan(plan).images if (each.network, each.file) == (network, raw.name)]
    check_weights(raw, images[0].bytes if images else 0)
    chunks = slot_image(read_in_chunks(raw), images[0].signature) if images else ()
    write_chunks_atomically(call.outputs[0], chunks)
