"""Step for a relocatable model, or its weights, as stored in its flash slot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import file_size, read_in_chunks, write_chunks_atomically
from n6build.base.span import Span
from n6build.engine.step import Call, Step, to_parameters
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
        function="n6build.steps.model_slot:make_model_slot",
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
