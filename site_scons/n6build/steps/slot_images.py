"""Steps for flash slots: models, weights of a memory pool, test vectors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import file_size, read_in_chunks, write_chunks_atomically
from n6build.base.span import Span
from n6build.compile.artifacts.weights import check_weights
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.memory_plan.plan import read_plan
from n6build.place.memory_plan.slot_image import encrypted_image, slot_image, vectors_slot_file, weights_slot_file
from n6build.place.memory_plan.vectors import read_vectors, rows
from n6build.place.reloc.description import read_description
from n6build.place.reloc.reader import read_reloc_file
from n6build.place.reloc.slots import (
    NO_SELF_TEST,
    Identity,
    SelfTest,
    check_room,
    name_crc32,
    outputs_crc32,
    slot_bytes,
    slot_chunks,
)
from n6build.place.reloc.verify import check_model
from n6build.place.trust.encryption import Encryption, read_key


@dataclass(frozen=True)
class SelfTestFiles:
    """Files of a model's self-test.

    Attributes:
        inputs: File of the test vectors.
        expected: File of the expected outputs; None if the outputs need not be bit-exact.
    """

    inputs: str
    expected: str | None


@dataclass(frozen=True)
class ModelSlotParameters:
    """Parameters of the step.

    Attributes:
        model: Name of the model.
        ram: RAM of the board for a whole model; None for the weights of one.
        test: Files of the self-test; None if the model's other file has the test.
        room: Bytes of its part of the slot.
    """

    model: str
    ram: tuple[Span, ...] | None
    test: SelfTestFiles | None
    room: int


def model_slot_step(
    output: str,
    file: str,
    description: str,
    model: str,
    *,
    ram: tuple[Span, ...] | None,
    test: SelfTestFiles | None,
    room: int,
) -> Step:
    """Return the step that makes the image for a model's slot.

    Args:
        output: Path of the image.
        file: Path of network_rel.bin, or of network_rel_params.bin if `ram` is None.
        description: Description of the model in JSON.
        model: Name of the model.
        ram: RAM of the board for a whole model; None for the weights of one.
        test: Files of the self-test; None if the model's other file has the test.
        room: Bytes of its part of the flash slot.
    """
    vectors = tuple(path for path in (test.inputs, test.expected) if path) if test else ()
    return Step(
        verb="Slot",
        stage="image",
        outputs=(output,),
        sources=(file, description, *vectors),
        parameters=to_parameters(ModelSlotParameters(model, ram, test, room)),
        function="n6build.steps.slot_images:make_model_slot",
    )


def make_model_slot(call: Call) -> None:
    """Write the image for the slot."""
    given = call.parameters_as(ModelSlotParameters)
    file, description = call.sources[0], read_description(call.sources[1])
    if given.ram is not None:
        check_model(read_reloc_file(file), given.ram)
    test = _self_test(given.test, description.outputs) if given.test else NO_SELF_TEST
    check_room(slot_bytes(file_size(file), test), given.room, call.outputs[0].name)
    identity = Identity(name_crc32(given.model), description.signature)
    write_chunks_atomically(call.outputs[0], slot_chunks(read_in_chunks(file), identity, test))


def _self_test(files: SelfTestFiles, outputs: tuple[int, ...]) -> SelfTest:
    """Return the self-test, made from the first test vector."""
    first = rows(read_vectors(Path(files.inputs)))[0]
    if files.expected is None:
        return SelfTest(first, None)
    return SelfTest(first, outputs_crc32(rows(read_vectors(Path(files.expected)))[0], outputs))


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
        function="n6build.steps.slot_images:make_weights_image",
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
        function="n6build.steps.slot_images:make_vectors_image",
    )


def make_vectors_image(call: Call) -> None:
    """Write the vectors with their trailer."""
    write_chunks_atomically(call.outputs[0], slot_image([read_vectors(call.sources[0]).data], 0))
