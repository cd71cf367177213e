"""Images of this project -> the same, signed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from n6build.formats.boot_header import BASE, SIGNED_BYTES, SIGNED_OFFSET
from n6build.formats.trust_claim import ALIGNMENT, APPLI_BOARD_OFFSET, CLAIM, LAYOUT, MAGIC, SIGNATURE_BYTES, Kind
from n6build.trust.anchor import board_identity

# Bytes that a claim takes behind an image, with the padding in front of it.
LARGEST_CLAIM = ALIGNMENT - 1 + CLAIM.size
# Makes r and s of what is to be signed.
Sign = Callable[[bytes], bytes]
_WORD = 4


@dataclass(frozen=True)
class Statement:
    """kind: of the image. counter: its security counter. board: name of the one it is for."""

    kind: Kind
    counter: int
    board: str


def signed_appli(image: bytes, statement: Statement, sign: Sign) -> bytes:
    """image: with its boot header and without a signature."""
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
    """Of an image in a flash slot, in bytes. file_bytes: of the file in front of the trailer. weights_offset: of what is weights,
    to the end of the file. trailer_offset: behind the trailer, a self-test may follow. changing: words of the trailer that
    programming changes, by their offset in it."""

    file_bytes: int
    weights_offset: int
    trailer_offset: int
    changing: tuple[int, ...] = ()


def signed_slot(image: bytes, parts: SlotParts, statement: Statement, sign: Sign) -> bytes:
    """image: without a claim."""
    claim = CLAIM.pack(
        magic=int.from_bytes(MAGIC, "little"),
        layout=LAYOUT,
        kind=statement.kind,
        counter=statement.counter,
        fixed_bytes=parts.weights_offset,
        weights_bytes=parts.file_bytes - parts.weights_offset,
        board=board_identity(statement.board),
        fixed_sha256=_fixed_digest(image, parts),
        weights_sha256=hashlib.sha256(image[parts.weights_offset : parts.file_bytes]).digest(),
    )
    head = claim[: CLAIM.offset_of("signature")]
    return image.ljust(claim_offset(len(image)), b"\0") + head + sign(head)


def claim_offset(stored_bytes: int) -> int:
    """From the start of the slot. stored_bytes: of all in front of the claim."""
    return -(-stored_bytes // ALIGNMENT) * ALIGNMENT


def stored_claim(slot: bytes, stored_bytes: int) -> bytes:
    """What a claim adds to the first `stored_bytes` of a slot, with the padding in front of it; empty where there is none."""
    start = claim_offset(stored_bytes)
    claim = slot[start : start + CLAIM.size]
    return slot[stored_bytes : start + CLAIM.size] if claim[: len(MAGIC)] == MAGIC and len(claim) == CLAIM.size else b""


def _fixed_digest(image: bytes, parts: SlotParts) -> bytes:
    behind = bytearray(image[parts.trailer_offset :])
    for offset in parts.changing:
        behind[offset : offset + _WORD] = bytes(_WORD)
    return hashlib.sha256(image[: parts.weights_offset] + behind).digest()
