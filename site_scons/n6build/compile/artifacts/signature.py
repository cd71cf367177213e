"""The signature that ties weights to the code that reads them."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from n6build.base.files import read_bytes


def network_signature(source: Path) -> int:
    """Return the CRC-32 of network.c without comments, which name sizes and the like.

    Weights fit as long as the code that reads them is the same.

    Raises:
        N6Error: N6-FILE-002.
    """
    return zlib.crc32(re.sub(rb"/\*.*?\*/", b"", read_bytes(source), flags=re.DOTALL))
