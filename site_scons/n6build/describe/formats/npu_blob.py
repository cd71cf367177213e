"""The first words of a blob of the epoch controller, and of its container."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.c_format import Constant, Format

MAGIC = 0xCA05_7A7A


@dataclass(frozen=True)
class ContainerLayout:
    """A version of the container around a blob that the loader relocates.

    All words have 32 bits. Each of the first words is a magic number or the offset of a section in
    bytes from the container's begin; the offset is 0 for a missing section.

    Attributes:
        magic: First word.
        releases: Releases of ST Edge AI Core that write it.
        header_words: Words of the header.
        blob_word: Word with the offset of the blob. The table of relocations is always in word 1.
        patch_words: Words of an entry of the patch table, whose offset is in word 2; 0 if there is
            no such table.
    """

    magic: int
    releases: str
    header_words: int
    blob_word: int
    patch_words: int


# From ec.h and ecloader.c of each release. Core 2.1 reads the blob's offset from word 3, although
# word 2 (debug information, which is empty) has the same value in all known files.
CONTAINERS = (
    ContainerLayout(0xECBF_0020, "2.0 and 2.1", header_words=4, blob_word=3, patch_words=0),
    ContainerLayout(0xECBF_0030, "2.2", header_words=6, blob_word=4, patch_words=4),
    ContainerLayout(0xECBF_0050, "3.0 and later", header_words=6, blob_word=4, patch_words=5),
)

FORMAT = Format(
    "n6_npu_blob.h",
    ("A blob of the epoch controller begins with this word, and then has the number of its words.",),
    constants=(Constant("N6_NPU_BLOB_MAGIC", MAGIC, "of a blob"),),
)
