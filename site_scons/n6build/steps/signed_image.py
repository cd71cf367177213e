"""Step that makes a program's image with ST's signing tool, boot header included."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import digest_of, write_atomically
from n6build.base.paths import project_path
from n6build.describe.formats.boot_header import BinaryType
from n6build.engine.step import Call, Step, Tool, to_parameters
from n6build.place.image.elf_reader import payload_of
from n6build.place.image.signing import Keys, signed_image


@dataclass(frozen=True)
class SignedImageParameters:
    """Parameters of the step.

    Attributes:
        kind: FSBL or SSBL, as the boot header names them.
        load_address: Load address in the header.
        payload_offset: Bytes from the start of the image to the program.
        public: Number of public keys among the sources, after program and tool and before the private
            key; None without keys.
    """

    kind: str
    load_address: int
    payload_offset: int
    public: int | None


def signed_image_step(
    output: str,
    elf: str,
    kind: BinaryType,
    load_address: int,
    payload_offset: int,
    tool: Path,
    keys: Keys | None,
) -> Step:
    """Return the step that makes an image with ST's signing tool.

    Args:
        output: Path of the image.
        elf: ELF file of the program.
        kind: Type in the boot header.
        load_address: Load address in the header.
        payload_offset: Bytes from the start of the image to the program.
        tool: Path of STM32_SigningTool_CLI.
        keys: Keys; None to write the header without signing.
    """
    given = (*keys.public, keys.private) if keys else ()
    return Step(
        verb="Sign",
        stage="image",
        outputs=(output,),
        sources=(elf, project_path(tool), *map(project_path, given)),
        parameters=to_parameters(
            SignedImageParameters(kind.name, load_address, payload_offset, len(keys.public) if keys else None)
        ),
        tools=(Tool(tool.name, digest_of(tool)),),
        function="n6build.steps.signed_image:make_signed_image",
        # Each signature is different, and needs a private key that only some users have.
        shared=False,
    )


def make_signed_image(call: Call) -> None:
    """Run the signing tool, check the image and write it."""
    given = call.parameters_as(SignedImageParameters)
    elf, tool, *keys = call.sources
    found = Keys(tuple(keys[: given.public]), keys[given.public]) if given.public is not None else None
    image = signed_image(
        payload_of(elf).data, BinaryType[given.kind], tool, found, given.load_address, given.payload_offset
    )
    write_atomically(call.outputs[0], image)
