"""Step that turns a program's ELF file into a flash image with a boot header."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.files import write_atomically
from n6build.describe.formats.boot_header import BinaryType
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.boot_header import with_boot_header
from n6build.place.image.elf_reader import payload_of


@dataclass(frozen=True)
class BootImageParameters:
    """Parameters of the step.

    Attributes:
        kind: FSBL or SSBL, as the boot header names them.
        payload_offset: Bytes from the start of the image to the program.
    """

    kind: str
    payload_offset: int


def boot_image_step(output: str, elf: str, kind: BinaryType, payload_offset: int) -> Step:
    """Return the step that makes the boot image of a program.

    Args:
        output: Path of the image.
        elf: ELF file of the program.
        kind: Type in the boot header.
        payload_offset: Bytes from the start of the image to the program.
    """
    return Step(
        verb="Image",
        stage="image",
        outputs=(output,),
        sources=(elf,),
        parameters=to_parameters(BootImageParameters(kind.name, payload_offset)),
        function="n6build.steps.boot_image:perform_boot_image",
    )


def perform_boot_image(call: Call) -> None:
    """Write the image."""
    payload = payload_of(call.sources[0])
    given = call.parameters_as(BootImageParameters)
    image = with_boot_header(payload.data, payload.address, BinaryType[given.kind], given.payload_offset)
    write_atomically(call.outputs[0], image)
