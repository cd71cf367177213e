"""Step for the weights of one memory pool, as stored in flash."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import read_in_chunks, write_chunks_atomically
from n6build.compile.artifacts.weights import check_weights
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.memory_plan.plan import read_plan
from n6build.place.memory_plan.slot_image import encrypted_image, slot_image, weights_slot_file
from n6build.place.trust.encryption import Encryption, read_key


@dataclass(frozen=True)
class WeightsImageParameters:
    """Parameters of the step.

    Attributes:
        network: Name of the network.
        encryption: Key of weights that the Appli copies; None for weights that are not encrypted.
    """

    network: str
    encryption: Encryption | None = None


def weights_image_step(
    folder: str, raw: str, network: str, plan: str, networks: int, encryption: Encryption | None
) -> Step:
    """Return the step that makes the flash image of weights.

    Args:
        folder: Folder of the image.
        raw: Raw weight file of stage 1.
        network: Name of the network.
        plan: Path of memory_plan.json.
        networks: Number of networks in the application.
        encryption: Key of weights that the Appli copies; None for weights that are not encrypted.
    """
    return Step(
        verb="Weights",
        stage="image",
        outputs=(f"{folder}/{weights_slot_file(raw.rpartition('/')[2], network, networks)}",),
        sources=(raw, plan),
        parameters=to_parameters(WeightsImageParameters(network, encryption)),
        state=(encryption.key,) if encryption else (),
        # The key is a file that only some users have.
        shared=encryption is None,
        function="n6build.steps.weights_image:make_weights_image",
    )


def make_weights_image(call: Call) -> None:
    """Write the weights with their trailer.

    The image is empty if the network compiler put nothing into the pool.

    Raises:
        N6Error: N6-NET-021 if the raw file does not have the size in the plan.
    """
    given = call.parameters_as(WeightsImageParameters)
    raw, plan = call.sources
    images = [each for each in read_plan(plan).images if (each.network, each.file) == (given.network, raw.name)]
    check_weights(raw, images[0].bytes if images else 0)
    chunks: Iterable[bytes] = ()
    if images and given.encryption:
        # Nothing decrypts weights that the network reads from flash.
        key = b"" if images[0].in_place else read_key(Path(given.encryption.key))
        chunks = encrypted_image(lambda: read_in_chunks(raw), images[0].signature, key)
    elif images:
        chunks = slot_image(read_in_chunks(raw), images[0].signature)
    write_chunks_atomically(call.outputs[0], chunks)
