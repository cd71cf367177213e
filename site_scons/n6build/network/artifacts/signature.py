"""What weights have to match: the code that reads them."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from n6build.base.files import read_bytes


def network_signature(source: Path) -> int:
    """CRC-32 of network.c without its comments, which name sizes and the like: weights match as long as the code that reads
    them is the same. Raises N6-FILE-002."""
    return zlib.crc32(re.sub(rb"/\*.*?\*/", b"", read_bytes(source), flags=re.DOTALL))
