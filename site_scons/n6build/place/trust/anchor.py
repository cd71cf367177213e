"""The trust anchor of a board's programs: public keys and the board's identity.

It becomes n6_trust_key.h.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.describe.formats.release import BOARD_BYTES

TEMPLATE = TEMPLATES / "n6_trust_key.h.j2"


def board_identity(board: str) -> bytes:
    """Return BOARD_BYTES of identity, equal for equal names.

    An image signed for one board is refused by another.
    """
    return hashlib.sha256(board.encode()).digest()[:BOARD_BYTES]


def trust_header(points: Sequence[bytes], board: str, floor_word: int, revoked_word: int, key_word: int) -> str:
    """Return the text of n6_trust_key.h.

    Args:
        points: Public keys, by their numbers.
        board: Name of the board.
        floor_word: Word of BSEC whose number of set bits is the lowest counter that is accepted.
        revoked_word: Word of BSEC whose bits revoke the keys with their numbers.
        key_word: First word of BSEC with the key of encrypted images.
    """
    words = {"floor_word": floor_word, "revoked_word": revoked_word, "key_word": key_word}
    return render(TEMPLATE, {"points": points, "board": board, "identity": board_identity(board), **words})
