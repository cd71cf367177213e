"""The trailer of a relocatable model in its flash slot, or of its weights file.

The weights may be a separate file.

    file, padded to ALIGNMENT bytes | trailer | input of the self-test
"""

from __future__ import annotations

from n6build.base.c_format import Constant, Format, Member, Struct

MAGIC = b"N6MD"
LAYOUT = 1
ALIGNMENT = 16

TRAILER = Struct(
    "n6_model_trailer_t",
    (
        Member("magic"),
        Member("layout"),
        Member("bytes", "of the file in front"),
        Member("crc32", "of the file"),
        Member("signature", "of the network's code; weights of another network are rejected"),
        Member("revision", "the higher one is newer"),
        Member("test_input_bytes", "0 where there is no input"),
        Member("test_input_crc32"),
        Member("test_outputs_crc32"),
        Member("has_expected", "the self-test must give test_outputs_crc32"),
        Member("model_crc32", "of the model's name"),
        Member("trailer_crc32", "of the words in front of it"),
    ),
)

FORMAT = Format(
    "n6_model_trailer.h",
    (
        "Behind the file of a relocatable model in its flash slot, or of its weights where they are a file of their own, at the",
        "next multiple of N6_MODEL_TRAILER_ALIGNMENT bytes. Behind it is the input of a self-test.",
    ),
    constants=(
        Constant("N6_MODEL_TRAILER_MAGIC", int.from_bytes(MAGIC, "little"), MAGIC.decode()),
        Constant("N6_MODEL_TRAILER_LAYOUT", LAYOUT),
        Constant("N6_MODEL_TRAILER_ALIGNMENT", ALIGNMENT),
    ),
    structs=(TRAILER,),
)
