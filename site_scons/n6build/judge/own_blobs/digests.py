"""Digests of blobs, which identify the blobs that were proved.

They are stored with the proof.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most
from n6build.judge.npu.blobs import MAX_BYTES, read_blobs


def digest(words: Sequence[int]) -> str:
    """Return the digest of a blob's words, without its header and its padding."""
    return hashlib.sha256(struct.pack(f"<{len(words)}I", *words)).hexdigest()


def require_proved(folder: Path, name: str) -> None:
    """Check that the blobs of a network are those that were proved.

    Networks of other backends pass.

    Raises:
        N6Error: N6-NPU-016 if a blob differs from the proved one; N6-NPU-001, N6-NPU-002, N6-FILE-00x.
    """
    figures = folder / f"{name}_npu.json"
    if not is_file(figures):
        return
    header = folder / f"{name}_ecblobs.h"
    try:
        proved = [str(each["sha256"]) for each in _parsed(figures)["blobs"]]
    except WRONG_FIELDS as error:
        raise _other(figures.name, "is not a file of backend neural_art") from error
    found = [digest(blob.words) for blob in read_blobs(header)]
    for place, (ours, theirs) in enumerate(zip(found, proved, strict=False), 1):
        if ours != theirs:
            raise _other(header.name, f"blob {place} is not the one that ran in the model of the NPU")
    if len(found) != len(proved):
        raise _other(header.name, f"has {len(found)} blobs, but {len(proved)} ran in the model of the NPU")


def _parsed(figures: Path) -> Any:
    return parse_json(read_at_most(figures, MAX_BYTES))


def _other(where: str, what: str) -> N6Error:
    return N6Error("N6-NPU-016", what, where=where, hint="remove the file: the next build compiles the network again")
