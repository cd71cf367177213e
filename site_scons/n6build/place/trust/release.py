"""The release of an application: its parts by their SHA-256.

It is a table inside of the signed Appli.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from n6build.describe.formats.release import HEAD, LAYOUT, MAGIC, PART

# A board has flash for fewer parts.
_MOST_PARTS = 1024
_WORD = 4


@dataclass(frozen=True)
class Part:
    """A part of a release.

    Attributes:
        subject: Identity of the model and its part.
        fixed_bytes: Bytes of the file in front of its weights.
        weights_bytes: Bytes of its weights.
        fixed_sha256: Digest of the bytes in front, of the trailer and of the self-test's input.
        weights_sha256: Digest of the weights.
    """

    subject: bytes
    fixed_bytes: int
    weights_bytes: int
    fixed_sha256: bytes
    weights_sha256: bytes


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


def subject(content: str, model: str, file: str = "") -> bytes:
    """Return the identity of a part of a release.

    The code that reads weights does not identify them: two models of one architecture have the same code.

    Args:
        content: Kind of the content: 'weights', 'vectors', 'model' or 'params'.
        model: Name of the model, the same for all its versions.
        file: File of the network compiler, if the model has several of this kind.
    """
    return hashlib.sha256("".join(f"{part}\0" for part in (content, model, file)).encode()).digest()


def part_of(image: bytes, parts: SlotParts, subject: bytes) -> Part:
    """Return the part of a release that an image in a flash slot is.

    Args:
        image: Image as in flash, with its trailer and self-test.
        parts: Parts of the image.
        subject: Identity of the part.
    """
    behind = bytearray(image[parts.trailer_offset :])
    for offset in parts.changing:
        behind[offset : offset + _WORD] = bytes(_WORD)
    return Part(
        subject,
        parts.weights_offset,
        parts.file_bytes - parts.weights_offset,
        hashlib.sha256(image[: parts.weights_offset] + behind).digest(),
        hashlib.sha256(image[parts.weights_offset : parts.file_bytes]).digest(),
    )


def release_bytes(level: int, parts: Sequence[Part]) -> bytes:
    """Return a release as it is in the Appli.

    Args:
        level: Number of the level that the Appli verifies.
        parts: Parts of the release.
    """
    head = HEAD.pack(magic=MAGIC, layout=LAYOUT, level=level, parts=len(parts))
    return head + b"".join(
        PART.pack(
            subject=each.subject,
            fixed_bytes=each.fixed_bytes,
            weights_bytes=each.weights_bytes,
            fixed_sha256=each.fixed_sha256,
            weights_sha256=each.weights_sha256,
        )
        for each in parts
    )


def find_release(appli: bytes) -> tuple[Part, ...] | None:
    """Return the parts that an Appli names, None without a whole release in it.

    Args:
        appli: Image of an Appli, from any source.
    """
    at = appli.find(MAGIC)
    if at < 0 or len(appli) < at + HEAD.size:
        return None
    head = HEAD.unpack(appli, at)
    start, count = at + HEAD.size, head["parts"]
    if head["layout"] != LAYOUT or count > _MOST_PARTS or len(appli) - start < count * PART.size:
        return None
    return tuple(_part(appli, start + number * PART.size) for number in range(count))


def _part(data: bytes, at: int) -> Part:
    numbers = PART.unpack(data, at)
    arrays = {
        member.name: data[at + PART.offset_of(member.name) :][: member.size] for member in PART.members if member.count
    }
    return Part(
        arrays["subject"],
        numbers["fixed_bytes"],
        numbers["weights_bytes"],
        arrays["fixed_sha256"],
        arrays["weights_sha256"],
    )
