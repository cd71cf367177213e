"""A program's ELF file -> the image with boot header that lies in flash."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.files import write_atomically
from n6build.image.boot_header import BinaryType, with_boot_header
from n6build.image.elf import payload_of
from n6build.plan.step import Call, Step, to_parameters


@dataclass(frozen=True)
class Parameters:
    """kind: FSBL or SSBL, as the boot header names them."""

    kind: str


def boot_image_step(output: str, elf: str, kind: BinaryType) -> Step:
    return Step(
        verb="Image",
        stage="image",
        outputs=(output,),
        sources=(elf,),
        parameters=to_parameters(Parameters(kind.name)),
        function="n6build.steps.boot_image:make",
    )


def make(call: Call) -> None:
    payload = payload_of(call.sources[0])
    kind = BinaryType[call.parameters_as(Parameters).kind]
    write_atomically(call.outputs[0], with_boot_header(payload.data, payload.address, kind))
