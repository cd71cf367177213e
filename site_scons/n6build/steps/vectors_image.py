"""Step for the test vectors of one network, as stored in flash."""

from __future__ import annotations

from n6build.base.files import write_chunks_atomically
from n6build.engine.step import Call, Step
from n6build.place.memory_plan.slot_image import slot_image, vectors_slot_file
from n6build.place.memory_plan.vectors import read_vectors


def vectors_image_step(folder: str, inputs: str, network: str, networks: int) -> Step:
    """Return the step that makes the flash image of test vectors.

    Args:
        folder: Folder of the image.
        inputs: File .npy with a row for each vector.
        network: Name of the network.
        networks: Number of networks in the application.
    """
    return Step(
        verb="Vectors",
        stage="image",
        outputs=(f"{folder}/{vectors_slot_file(network, networks)}",),
        sources=(inputs,),
        function="n6build.steps.vectors_image:make_vectors_image",
    )


def make_vectors_image(call: Call) -> None:
    """Write the vectors with their trailer."""
    write_chunks_atomically(call.outputs[0], slot_image([read_vectors(call.sources[0]).data], 0))
