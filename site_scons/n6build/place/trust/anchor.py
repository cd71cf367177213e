"""The trust anchor of a board's programs: a public key and the board's identity.

It becomes n6_trust_key.h.
"""

from __future__ import annotations

import hashlib

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.describe.formats.release import BOARD_BYTES

TEMPLATE = TEMPLATES / "n6_trust_key.h.j2"


def board_identity(board: str) -> bytes:
    """Return BOARD_BYTES of identity, equal for equal names.

    An image signed for one board is refused by another.
    """
    return hashlib.sha256(board.encode()).digest()[:BOARD_BYTES]


def trust_header(point: bytes, board: str, floor_word: int) -> str:
    """Return the text of n6_trust_key.h.

    Args:
        point: Public key.
        board: Name of the board.
        floor_word: Word of BSEC whose number of set bits is the lowest counter that is accepted.
    """
    values = {"point": point, "board": board, "identity": board_identity(board), "word": floor_word}
    return render(TEMPLATE, values)
