"""Step that signs the FSBL for the boot ROM, with sign=n6build:FOLDER."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from n6build.base.files import read_bytes, write_atomically
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.rom_keys import signed_fsbl
from n6build.place.trust.keys import signature


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
        function="n6build.steps.rom_signed_image:make_rom_signed_image",
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
