"""The trust anchor of a board's programs: a public key and the board's identity.

It becomes n6_trust_key.h. The subjects of images are in the tables of the Appli.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.describe.formats.trust_claim import BOARD_BYTES

TEMPLATE = TEMPLATES / "n6_trust_key.h.j2"


def board_identity(board: str) -> bytes:
    """Return BOARD_BYTES of identity, equal for equal names.

    An image signed for one board is refused by another.
    """
    return hashlib.sha256(board.encode()).digest()[:BOARD_BYTES]


def subject(content: str, model: str, file: str = "") -> bytes:
    """Return the identity of an image of a model, which its claim names.

    The code that reads weights does not identify them: two models of one architecture have the same code.

    Args:
        content: Kind of the content: 'weights', 'vectors', 'model' or 'params'.
        model: Name of the model, the same for all its versions.
        file: File of the network compiler, if the model has several of this kind.
    """
    return hashlib.sha256("".join(f"{part}\0" for part in (content, model, file)).encode()).digest()


def trust_header(point: bytes, board: str, floor_words: Sequence[int]) -> str:
    """Return the text of n6_trust_key.h.

    Args:
        point: Public key.
        board: Name of the board.
        floor_words: Words of BSEC in the order of `Kind`, whose set bits are the lowest counter
            that is accepted.
    """
    values = {"point": point, "board": board, "identity": board_identity(board), "words": floor_words}
    return render(TEMPLATE, values)
