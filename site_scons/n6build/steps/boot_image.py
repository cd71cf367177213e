"""Steps for images with a boot header: unsigned, or signed by ST's tool or here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from n6build.base.files import digest_of, read_bytes, write_atomically
from n6build.base.paths import project_path
from n6build.describe.formats.boot_header import BinaryType
from n6build.engine.step import Call, Step, Tool, to_parameters
from n6build.place.image.boot_header import with_boot_header
from n6build.place.image.elf_reader import payload_of
from n6build.place.image.rom_keys import signed_fsbl
from n6build.place.image.signing import Keys, signed_image
from n6build.place.trust.keys import signature


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
        function="n6build.steps.boot_image:make_signed_image",
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


@dataclass(frozen=True)
class RomSigning:
    """Parameters of the step.

    Attributes:
        key: File of the private key.
        points: Public keys of the boot ROM, in hexadecimal, by their numbers.
        number: Number of the key that signs.
        version: Version of the FSBL.
    """

    key: str
    points: tuple[str, ...]
    number: int
    version: int


def rom_signed_step(output: str, unsigned: str, signing: RomSigning) -> Step:
    """Return the step that signs an FSBL.

    Args:
        output: Path of the signed image.
        unsigned: Path of the image.
        signing: Keys of the boot ROM.
    """
    return Step(
        verb="Sign",
        stage="image",
        outputs=(output,),
        sources=(unsigned,),
        parameters=to_parameters(signing),
        # The public half of the key is a parameter. The key file is only a state: it may move, or get another password.
        state=(signing.key,),
        function="n6build.steps.boot_image:make_rom_signed_image",
        # The image needs a private key that only some users have.
        shared=False,
    )


def make_rom_signed_image(call: Call) -> None:
    """Write the signed image."""
    signing = call.parameters_as(RomSigning)
    points = [bytes.fromhex(point) for point in signing.points]
    sign = partial(signature, Path(signing.key), points[signing.number])
    image = signed_fsbl(read_bytes(call.sources[0]), points, signing.number, sign, signing.version)
    write_atomically(call.outputs[0], image)


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
