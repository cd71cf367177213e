"""The signed claim of a key's owner about an image in a flash slot.

It is behind the image, at the next multiple of ALIGNMENT bytes. The digest of the weights is a
field of its own, so that code can be verified without reading all weights.
"""

from __future__ import annotations

from enum import IntEnum

from n6build.base.c_format import Constant, Enumeration, Format, Member, Struct
from n6build.describe.formats.boot_header import BASE

MAGIC = b"N6TC"
LAYOUT = 2
ALIGNMENT = 16
DIGEST_BYTES = 32
SUBJECT_BYTES = 32
SIGNATURE_BYTES = 64
BOARD_BYTES = 16
# In the signed image of an Appli, the board is at the start of the padding extension's body, which ST's tool fills at random.
APPLI_BOARD_OFFSET = BASE.size + 8


class Kind(IntEnum):
    """Kind of an image, each with its own security counter.

    Attributes:
        APPLI: An Appli.
        MODEL: A relocatable model.
        DATA: Weights and test vectors.
    """

    APPLI = 0
    MODEL = 1
    DATA = 2


CLAIM = Struct(
    "n6_trust_claim_t",
    (
        Member("magic"),
        Member("layout"),
        Member("kind"),
        Member("counter", "security counter: images below the board's floor are rejected"),
        Member("fixed_bytes", "of the file, in front of its weights"),
        Member("weights_bytes", "of the file, the rest of it"),
        Member("board", kind="uint8_t", count=BOARD_BYTES),
        Member("subject", "the model and its part that the image is for", kind="uint8_t", count=SUBJECT_BYTES),
        Member(
            "fixed_sha256",
            "of that part of the file, of the trailer and of the self-test's input",
            kind="uint8_t",
            count=DIGEST_BYTES,
        ),
        Member("weights_sha256", kind="uint8_t", count=DIGEST_BYTES),
        Member("signature", "r and s, of the words in front of it", kind="uint8_t", count=SIGNATURE_BYTES),
    ),
)

FORMAT = Format(
    "n6_trust_claim.h",
    (
        "Behind an image in a flash slot, with its trailer and the input of its self-test, at the next multiple of",
        "N6_TRUST_CLAIM_ALIGNMENT bytes: the claim of a key's owner about it. In a model's trailer, which "
        "programming changes,",
        "revision and CRC count as 0.",
    ),
    constants=(
        Constant("N6_TRUST_CLAIM_MAGIC", int.from_bytes(MAGIC, "little"), MAGIC.decode()),
        Constant("N6_TRUST_CLAIM_LAYOUT", LAYOUT),
        Constant("N6_TRUST_CLAIM_ALIGNMENT", ALIGNMENT),
        Constant("N6_TRUST_DIGEST_BYTES", DIGEST_BYTES, "SHA-256"),
        Constant("N6_TRUST_SIGNATURE_BYTES", SIGNATURE_BYTES, "ECDSA P-256"),
        Constant("N6_TRUST_BOARD_BYTES", BOARD_BYTES, "SHA-256 of the board's name, its beginning"),
        Constant("N6_TRUST_SUBJECT_BYTES", SUBJECT_BYTES, "SHA-256 of content, model's name and file, each ended by 0"),
        Constant("N6_TRUST_APPLI_BOARD_OFFSET", APPLI_BOARD_OFFSET, "of the same in the header of an Appli"),
    ),
    enumerations=(Enumeration("n6_trust_kind_t", "N6_TRUST_KIND_", Kind),),
    structs=(CLAIM,),
)
