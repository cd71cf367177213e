"""One Intel hex file of everything in flash, for any programmer that takes one."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from intelhex import AddressOverlapError, IntelHex

from n6build.errors import N6Error
from n6build.files import read_bytes
from n6build.image.manifest import Segment


def merged_hex(segments: Sequence[Segment], folder: Path) -> str:
    """Raises N6-IMAGE-006 where two segments overlap."""
    merged = IntelHex()
    for segment in segments:
        part = IntelHex()
        part.frombytes(read_bytes(folder / segment.file), offset=segment.address)
        try:
            merged.merge(part, overlap="error")
        except AddressOverlapError as error:
            raise N6Error("N6-IMAGE-006", f"{segment.name} overlaps another segment", where=segment.file) from error
    text = io.StringIO()
    merged.write_hex_file(text, eolstyle="native")
    return text.getvalue()
