"""The trailer of weights and test vectors in a flash slot.

It is at the next multiple of ALIGNMENT bytes behind the data.
"""

from __future__ import annotations

from n6build.base.c_format import Constant, Format, Member, Struct

MAGIC = b"N6IM"
ALIGNMENT = 16

TRAILER = Struct(
    "n6_slot_trailer_t",
    (
        Member("magic"),
        Member("bytes", "of the data"),
        Member("crc32", "of the data"),
        Member("signature", "of the network that the data is for"),
    ),
)

FORMAT = Format(
    "n6_slot_trailer.h",
    ("Behind data in a flash slot, at the next multiple of N6_SLOT_TRAILER_ALIGNMENT bytes.",),
    constants=(
        Constant("N6_SLOT_TRAILER_MAGIC", int.from_bytes(MAGIC, "little"), MAGIC.decode()),
        Constant("N6_SLOT_TRAILER_ALIGNMENT", ALIGNMENT),
    ),
    structs=(TRAILER,),
)
