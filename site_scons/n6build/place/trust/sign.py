"""Signature of an Appli, which is the signature of its release."""

from __future__ import annotations

from collections.abc import Callable

from n6build.describe.formats.boot_header import BASE, SIGNED_BYTES, SIGNED_OFFSET
from n6build.describe.formats.release import APPLI_BOARD_OFFSET, APPLI_KEY_OFFSET, SIGNATURE_BYTES
from n6build.place.trust.anchor import board_identity

# Such a function returns r and s of the bytes to be signed.
Sign = Callable[[bytes], bytes]
_WORD = 4


def signed_appli(image: bytes, counter: int, board: str, sign: Sign, key: int = 0) -> bytes:
    """Return a signed Appli.

    Args:
        image: Image with its boot header and without a signature.
        counter: Security counter of the release.
        board: Name of the board that it is for.
        sign: Function that signs.
        key: Number of its key on the board.
    """
    signed = bytearray(image)
    identity = board_identity(board)
    at = BASE.offset_of("image_version")
    signed[at : at + _WORD] = counter.to_bytes(_WORD, "little")
    signed[APPLI_BOARD_OFFSET : APPLI_BOARD_OFFSET + len(identity)] = identity
    signed[APPLI_KEY_OFFSET : APPLI_KEY_OFFSET + _WORD] = key.to_bytes(_WORD, "little")
    return with_signature(signed, sign)


def with_signature(image: bytearray, sign: Sign) -> bytes:
    """Return an image with its signature.

    It covers the bytes that the boot ROM's signature covers.

    Args:
        image: Whole image, which gets the signature.
        sign: Function that signs.
    """
    at = BASE.offset_of("signature")
    image[at : at + SIGNATURE_BYTES] = sign(covered(bytes(image)))
    return bytes(image)


def covered(image: bytes) -> bytes:
    """Return the bytes of an image that a signature covers."""
    return image[SIGNED_OFFSET : SIGNED_OFFSET + SIGNED_BYTES] + image[BASE.size :]
