"""The release: a list of all parts of an application by their SHA-256.

It is inside of the signed Appli.

    head | a part for each model, weights and set of test vectors

The signature in the boot header of the Appli covers it, with the Appli, its board and its counter.
"""

from __future__ import annotations

import hashlib

from n6build.base.c_format import Constant, Format, Member, Struct
from n6build.describe.formats.boot_header import BASE

# A search for it in an Appli finds the release.
MAGIC = hashlib.sha256(b"n6build release").digest()[:16]
LAYOUT = 1
DIGEST_BYTES = 32
SUBJECT_BYTES = 32
SIGNATURE_BYTES = 64
BOARD_BYTES = 16
# In the signed image of an Appli, the board is at the start of the padding extension's body, which ST's tool fills at random.
APPLI_BOARD_OFFSET = BASE.size + 8
# Behind it is the number of the key that signs.
APPLI_KEY_OFFSET = APPLI_BOARD_OFFSET + BOARD_BYTES
# A board has room for so many keys.
MOST_KEYS = 8

HEAD = Struct(
    "n6_release_head_t",
    (
        Member("magic", kind="uint8_t", count=len(MAGIC)),
        Member("layout"),
        Member("level", "as N6_TRUST: 1 verifies code, 2 also all weights"),
        Member("parts", "the number of parts behind the head"),
    ),
)
PART = Struct(
    "n6_release_part_t",
    (
        Member("subject", "the model and its part", kind="uint8_t", count=SUBJECT_BYTES),
        Member("fixed_bytes", "of the file, in front of its weights"),
        Member("weights_bytes", "of the file, the rest of it"),
        Member(
            "fixed_sha256",
            "of that beginning of the file, of the trailer and of the self-test's input",
            kind="uint8_t",
            count=DIGEST_BYTES,
        ),
        Member("weights_sha256", kind="uint8_t", count=DIGEST_BYTES),
    ),
)

FORMAT = Format(
    "n6_release_format.h",
    (
        "Inside of a signed Appli: all parts that belong to it, by their digests. In a model's trailer, which programming",
        "changes, revision and CRC count as 0.",
    ),
    constants=(
        Constant("N6_RELEASE_LAYOUT", LAYOUT),
        Constant("N6_TRUST_DIGEST_BYTES", DIGEST_BYTES, "SHA-256"),
        Constant("N6_TRUST_SIGNATURE_BYTES", SIGNATURE_BYTES, "ECDSA P-256"),
        Constant("N6_TRUST_BOARD_BYTES", BOARD_BYTES, "SHA-256 of the board's name, its beginning"),
        Constant(
            "N6_RELEASE_SUBJECT_BYTES", SUBJECT_BYTES, "SHA-256 of content, model's name and file, each ended by 0"
        ),
        Constant("N6_TRUST_APPLI_BOARD_OFFSET", APPLI_BOARD_OFFSET, "of the same in the header of an Appli"),
        Constant("N6_TRUST_APPLI_KEY_OFFSET", APPLI_KEY_OFFSET, "of the number of its key, a word"),
        Constant("N6_TRUST_MOST_KEYS", MOST_KEYS),
    ),
    structs=(HEAD, PART),
)
