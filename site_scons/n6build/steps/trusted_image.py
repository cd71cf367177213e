"""Step that signs the Appli, and with it the release, with option trust_key.

With option encrypt_key it also encrypts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from n6build.base.files import read_bytes, write_atomically
from n6build.base.same_fields import with_fields_of
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.trust.choice import Trust
from n6build.place.trust.encryption import Encryption, encrypted_appli, marked_appli, read_key
from n6build.place.trust.keys import signature
from n6build.place.trust.sign import signed_appli
from n6build.place.trust.signers import signed_elsewhere


@dataclass(frozen=True)
class TrustedImageParameters:
    """Parameters of the step.

    Attributes:
        key: File of the key.
        point: Public half of the key.
        number: Number of the key on the board.
        counter: Security counter of the release.
        board: Name of the board that the release is for.
        sign_with: Command or token that signs; empty for the private key itself.
        encryption: Key of the encrypted image; None for an image that is not encrypted.
    """

    key: str
    point: str
    number: int
    counter: int
    board: str
    sign_with: str
    encryption: Encryption | None


def trusted_step(output: str, unsigned: str, board: str, trust: Trust) -> Step:
    """Return the step that signs an Appli.

    Args:
        output: Path of the signed image.
        unsigned: Path of the image.
        board: Name of the board.
        trust: Signature settings.
    """
    return Step(
        verb="Sign",
        stage="image",
        outputs=(output,),
        sources=(unsigned,),
        parameters=to_parameters(
            with_fields_of(TrustedImageParameters, trust, point=trust.points[trust.number], board=board)
        ),
        # The public half of the key is a parameter. The key file is only a state: it may move, or get another password.
        state=(trust.key, *([trust.encryption.key] if trust.encryption else [])),
        function="n6build.steps.trusted_image:make_trusted_image",
        # The image needs a private key that only some users have.
        shared=False,
    )


def make_trusted_image(call: Call) -> None:
    """Write the signed image."""
    given = call.parameters_as(TrustedImageParameters)
    by = partial(signed_elsewhere, given.sign_with) if given.sign_with else partial(signature, Path(given.key))
    sign = partial(by, bytes.fromhex(given.point))
    image = read_bytes(call.sources[0])
    key = read_key(Path(given.encryption.key)) if given.encryption else b""
    # The signature is of the bytes that run: the FSBL decrypts its copy and then verifies it.
    image = marked_appli(image, key) if key else image
    image = signed_appli(image, given.counter, given.board, sign, given.number)
    write_atomically(call.outputs[0], encrypted_appli(image, key) if key else image)
