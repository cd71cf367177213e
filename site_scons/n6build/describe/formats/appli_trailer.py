"""The trailer of an Appli in one of two flash slots, which shows the newer one.

    image with its boot header, padded to ALIGNMENT bytes | trailer

Programming writes it; no signature covers it.
"""

from __future__ import annotations

from n6build.base.c_format import Constant, Format, Member, Struct

MAGIC = b"N6AT"
ALIGNMENT = 16

TRAILER = Struct(
    "n6_appli_trailer_t",
    (
        Member("magic"),
        Member("revision", "the higher one is newer"),
        Member("header_crc32", "of the boot header in front, N6_BOOT_HEADER_BYTES"),
        Member("trailer_crc32", "of the words in front of it"),
    ),
)

FORMAT = Format(
    "n6_appli_trailer.h",
    (
        "Behind the Appli in one of two flash slots, at the next multiple of N6_APPLI_TRAILER_ALIGNMENT bytes. An Appli without",
        "one is older than all that have one.",
    ),
    constants=(
        Constant("N6_APPLI_TRAILER_MAGIC", int.from_bytes(MAGIC, "little"), MAGIC.decode()),
        Constant("N6_APPLI_TRAILER_ALIGNMENT", ALIGNMENT),
    ),
    structs=(TRAILER,),
)
