"""The record of an encrypted part in flash.

The cipher is AES-256 in counter mode, with a key in the chip. The first block of a part has counter 0. The Appli has this record
in its boot header, and encrypted weights have it behind their trailer. A part with other bytes there is not encrypted: ST's tool
fills them at random.
"""

from __future__ import annotations

from n6build.base.c_format import Constant, Format, Member, Struct
from n6build.describe.formats.boot_header import HEADER_BYTES
from n6build.describe.formats.release import APPLI_KEY_OFFSET

MAGIC = b"N6EN"
KEY_BYTES = 32
NONCE_BYTES = 12
# In the header of an Appli, behind the number of the key that signs.
APPLI_OFFSET = APPLI_KEY_OFFSET + 4

ENCRYPTION = Struct(
    "n6_encryption_t",
    (
        Member("magic"),
        Member("nonce", "differs for different content", kind="uint8_t", count=NONCE_BYTES),
        Member("mark", "of the key: the beginning of its SHA-256, so that a board knows another key"),
    ),
)

FORMAT = Format(
    "n6_encryption_format.h",
    (
        "A part in flash that is encrypted with AES-256 in counter mode, counter 0 first. The Appli has this in its header, and",
        "is encrypted from N6_ENCRYPTION_APPLI_START to its end. Weights have it behind their trailer.",
    ),
    constants=(
        Constant("N6_ENCRYPTION_MAGIC", int.from_bytes(MAGIC, "little"), f"{MAGIC.decode()}; else not encrypted"),
        Constant("N6_ENCRYPTION_KEY_BYTES", KEY_BYTES, "in fuse words, little endian"),
        Constant("N6_ENCRYPTION_APPLI_OFFSET", APPLI_OFFSET, "of this record in an Appli"),
        Constant("N6_ENCRYPTION_APPLI_START", HEADER_BYTES, "of the encrypted bytes in an Appli"),
    ),
    structs=(ENCRYPTION,),
)
