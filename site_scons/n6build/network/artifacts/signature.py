"""What weights have to fit: the code that reads them."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from n6build.base.files import read_bytes


def network_signature(source: Path) -> int:
    """Of network.c: weights fit as long as the code that reads them is the same; comments in it name sizes and the like."""
    return zlib.crc32(re.sub(rb"/\*.*?\*/", b"", read_bytes(source), flags=re.DOTALL))
