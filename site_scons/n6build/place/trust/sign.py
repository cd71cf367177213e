"""Signing of this project's images."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from n6build.describe.formats.boot_header import BASE, SIGNED_BYTES, SIGNED_OFFSET
from n6build.describe.formats.trust_claim import (
    ALIGNMENT,
    APPLI_BOARD_OFFSET,
    CLAIM,
    LAYOUT,
    MAGIC,
    SIGNATURE_BYTES,
    SUBJECT_BYTES,
    Kind,
)
from n6build.place.trust.anchor import board_identity

# A claim takes at most this number of bytes behind an image, with the padding in front of it.
LARGEST_CLAIM = ALIGNMENT - 1 + CLAIM.size
# Such a function returns r and s of the bytes to be signed.
Sign = Callable[[bytes], bytes]
_WORD = 4


@dataclass(frozen=True)
class Statement:
    """The statement that a signature makes about an image.

    Attributes:
        kind: Kind of image.
        counter: Its security counter.
        board: Name of the board that it is for.
        subject: Model and part of it that an image in a flash slot is for; an Appli has none.
    """

    kind: Kind
    counter: int
    board: str
    subject: bytes = bytes(SUBJECT_BYTES)


def signed_appli(image: bytes, statement: Statement, sign: Sign) -> bytes:
    """Return a signed Appli.

    Args:
        image: Image with its boot header and without a signature.
        statement: Statement about the image.
        sign: Function that signs.
    """
    signed = bytearray(image)
    identity = board_identity(statement.board)
    at = BASE.offset_of("image_version")
    signed[at : at + _WORD] = statement.counter.to_bytes(_WORD, "little")
    signed[APPLI_BOARD_OFFSET : APPLI_BOARD_OFFSET + len(identity)] = identity
    covered = bytes(signed[SIGNED_OFFSET : SIGNED_OFFSET + SIGNED_BYTES] + signed[BASE.size :])
    at = BASE.offset_of("signature")
    signed[at : at + SIGNATURE_BYTES] = sign(covered)
    return bytes(signed)


@dataclass(frozen=True)
class SlotParts:
    """The parts of an image in a flash slot, in bytes.

    Attributes:
        file_bytes: Size of the file in front of the trailer.
        weights_offset: Offset of the weights, which end with the file.
        trailer_offset: Offset of the trailer, behind which a self-test may follow.
        changing: Words of the trailer that programming changes, by their offset in it.
    """

    file_bytes: int
    weights_offset: int
    trailer_offset: int
    changing: tuple[int, ...] = ()


def signed_slot(image: bytes, parts: SlotParts, statement: Statement, sign: Sign) -> bytes:
    """Return an image with a signed claim.

    Args:
        image: Image without a claim.
        parts: Parts of the image.
        statement: Statement about the image.
        sign: Function that signs.
    """
    claim = CLAIM.pack(
        magic=int.from_bytes(MAGIC, "little"),
        layout=LAYOUT,
        kind=statement.kind,
        counter=statement.counter,
        fixed_bytes=parts.weights_offset,
        weights_bytes=parts.file_bytes - parts.weights_offset,
        board=board_identity(statement.board),
        subject=statement.subject,
        fixed_sha256=_fixed_digest(image, parts),
        weights_sha256=hashlib.sha256(image[parts.weights_offset : parts.file_bytes]).digest(),
    )
    head = claim[: CLAIM.offset_of("signature")]
    return image.ljust(claim_offset(len(image)), b"\0") + head + sign(head)


def claim_offset(stored_bytes: int) -> int:
    """Return the offset of a claim from the start of the slot.

    Args:
        stored_bytes: Bytes in front of the claim.
    """
    return -(-stored_bytes // ALIGNMENT) * ALIGNMENT


def stored_claim(slot: bytes, stored_bytes: int) -> bytes:
    """Return the bytes of a claim behind the first `stored_bytes` of a slot.

    They include the padding in front of the claim; the result is empty without a claim.
    """
    start = claim_offset(stored_bytes)
    claim = slot[start : start + CLAIM.size]
    return slot[stored_bytes : start + CLAIM.size] if claim[: len(MAGIC)] == MAGIC and len(claim) == CLAIM.size else b""


def _fixed_digest(image: bytes, parts: SlotParts) -> bytes:
    behind = bytearray(image[parts.trailer_offset :])
    for offset in parts.changing:
        behind[offset : offset + _WORD] = bytes(_WORD)
    return hashlib.sha256(image[: parts.weights_offset] + behind).digest()
