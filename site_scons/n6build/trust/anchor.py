"""What the programs of a board believe: a public key, and what the board is. Becomes n6_trust_key.h."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.formats.trust_claim import BOARD_BYTES

TEMPLATE = TEMPLATES / "n6_trust_key.h.j2"


def board_identity(board: str) -> bytes:
    """BOARD_BYTES, equal for equal names: an image signed for one board is refused by another."""
    return hashlib.sha256(board.encode()).digest()[:BOARD_BYTES]


def trust_header(point: bytes, board: str, floor_words: Sequence[int]) -> str:
    """The text of n6_trust_key.h. point: the public key. board: its name. floor_words: words of BSEC, in the order of `Kind`,
    whose set bits are the lowest counter that is accepted."""
    values = {"point": point, "board": board, "identity": board_identity(board), "words": floor_words}
    return render(TEMPLATE, values)
