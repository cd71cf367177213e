"""A program's ELF file -> an image with boot header, written by ST's signing tool."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import digest_of, write_atomically
from n6build.base.paths import project_path
from n6build.formats.boot_header import BinaryType
from n6build.image.elf import payload_of
from n6build.image.signing import Keys, signed_image
from n6build.plan.step import Call, Step, Tool, to_parameters


@dataclass(frozen=True)
class Parameters:
    """load_address: for the header. payload_offset: bytes from the start of the image to the program. public: number of
    public keys among the sources, behind program and tool and before the private key; None: without keys."""

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
    """tool: STM32_SigningTool_CLI. keys: None to write the header without signing."""
    given = (*keys.public, keys.private) if keys else ()
    return Step(
        verb="Sign",
        stage="image",
        outputs=(output,),
        sources=(elf, project_path(tool), *map(project_path, given)),
        parameters=to_parameters(
            Parameters(kind.name, load_address, payload_offset, len(keys.public) if keys else None)
        ),
        tools=(Tool(tool.name, digest_of(tool)),),
        function="n6build.steps.signed_image:make",
        # A signature is different each time, and made with a key that not everybody has.
        shared=False,
    )


def make(call: Call) -> None:
    """Runs the signing tool, checks the image and writes it."""
    given = call.parameters_as(Parameters)
    elf, tool, *keys = call.sources
    found = Keys(tuple(keys[: given.public]), keys[given.public]) if given.public is not None else None
    image = signed_image(
        payload_of(elf).data, BinaryType[given.kind], tool, found, given.load_address, given.payload_offset
    )
    write_atomically(call.outputs[0], image)
