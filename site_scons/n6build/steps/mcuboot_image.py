"""Step for the Appli as an image of MCUboot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from n6build.base.files import read_bytes, write_atomically
from n6build.describe.hardware.board import Board
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.mcuboot import SigningKey, mcuboot_image
from n6build.place.trust.choice import Trust
from n6build.place.trust.keys import der_signature, key_info, signature
from n6build.place.trust.signers import signed_elsewhere


@dataclass(frozen=True)
class McubootImageParameters:
    """Parameters of the step.

    Attributes:
        address: Address of the Appli's vector table.
        header_bytes: Bytes in front of it.
        version: Version of the image.
        trust: Signature settings; None for an image without a signature.
    """

    address: int
    header_bytes: int
    version: str
    trust: Trust | None


def mcuboot_image_step(output: str, appli: str, board: Board, version: str, trust: Trust | None) -> Step:
    """Return the step that writes the image.

    Args:
        output: Path of the image.
        appli: Path of the Appli with its boot header and without a signature.
        board: Board of the Appli.
        version: Version of the image.
        trust: Signature settings, or None.
    """
    load = board.soc.load_and_run
    address = load.load_address + load.payload_offset
    return Step(
        verb="Image",
        stage="image",
        outputs=(output,),
        sources=(appli,),
        parameters=to_parameters(McubootImageParameters(address, load.payload_offset, version, trust)),
        state=(trust.key,) if trust else (),
        function="n6build.steps.mcuboot_image:make_mcuboot_image",
        # A signature needs a private key that only some users have.
        shared=trust is None,
    )


def make_mcuboot_image(call: Call) -> None:
    """Write the image.

    Raises:
        N6Error: Errors of the key, N6-TRUST-00x.
    """
    given = call.parameters_as(McubootImageParameters)
    program = read_bytes(call.sources[0])[given.header_bytes :]
    counter = given.trust.counter if given.trust else 0
    key = _signing_key(given.trust) if given.trust else None
    made = mcuboot_image(program, given.address, given.header_bytes, given.version, counter, key)
    write_atomically(call.outputs[0], made)


def _signing_key(trust: Trust) -> SigningKey:
    point = bytes.fromhex(trust.points[trust.number])
    sign = partial(signed_elsewhere, trust.sign_with) if trust.sign_with else partial(signature, Path(trust.key))
    return SigningKey(key_info(point), lambda data: der_signature(sign(point, data)))
