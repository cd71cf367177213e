"""The first word of a blob of the NPU's epoch controller."""

from __future__ import annotations

from n6build.base.c_format import Constant, Format

MAGIC = 0xCA05_7A7A

FORMAT = Format(
    "n6_npu_blob.h",
    ("A blob of the epoch controller begins with this word, and then has the number of its words.",),
    constants=(Constant("N6_NPU_BLOB_MAGIC", MAGIC, "of a blob"),),
)
