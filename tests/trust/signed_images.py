"""Signed Applis, and images of every kind that a release lists."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.formats.model_trailer import TRAILER as MODEL_TRAILER
from n6build.describe.formats.slot_trailer import TRAILER as SLOT_TRAILER
from n6build.place.image.boot_header import with_boot_header
from n6build.place.memory_plan.slot_image import slot_image, trailer_offset
from n6build.place.reloc.slots import Identity, SelfTest, released_part, slot_chunks
from n6build.place.trust.keys import public_point, signature
from n6build.place.trust.release import Part, SlotParts, part_of
from n6build.place.trust.sign import Sign, signed_appli

from trust.host_verifier import BOARD, SUBJECT, Image

ORIGIN = 0x3400_0400
PAYLOAD_OFFSET = 0x400
CHANGING = tuple(MODEL_TRAILER.offset_of(name) for name in ("revision", "trailer_crc32"))


@dataclass(frozen=True)
class Maker:
    """A maker of signed Applis for a board.

    Attributes:
        key: File of the private key.
        board: Name of the board.
        counter: Security counter of the images.
        number: Number of the key that the images name.
    """

    key: Path
    board: str = BOARD
    counter: int = 0
    number: int = 0

    @property
    def sign(self) -> Sign:
        return partial(signature, self.key, public_point(self.key))

    def appli(self, random: random.Random, type: BinaryType = BinaryType.SSBL) -> Image:
        payload = struct.pack("<II", ORIGIN + 0x1000, ORIGIN | 9) + random.randbytes(random.randrange(8, 800))
        unsigned = with_boot_header(payload, ORIGIN, type, PAYLOAD_OFFSET)
        return Image(signed_appli(unsigned, self.counter, self.board, self.sign, self.number), is_appli=True)


def data_image(random: random.Random) -> Image:
    """Return weights or test vectors."""
    weights = random.randbytes(random.randrange(1, 400))
    return Image(b"".join(slot_image([weights], 7)), weights=len(weights), trailer=SLOT_TRAILER.size)


def model_image(random: random.Random) -> Image:
    """Return a relocatable model."""
    code, weights = random.randbytes(16 * random.randrange(1, 20)), random.randbytes(random.randrange(0, 400))
    test = SelfTest(random.randbytes(random.randrange(0, 40)), 1)
    image = b"".join(slot_chunks([code, weights], Identity(1, 2), test))
    return Image(image, code=len(code), weights=len(weights), trailer=MODEL_TRAILER.size)


def part(image: Image, subject: bytes = SUBJECT) -> Part:
    """Return the part of a release that an image is."""
    size = image.code + image.weights
    if image.trailer == MODEL_TRAILER.size:
        return released_part(image.data, size, image.code, subject)
    return part_of(image.data, SlotParts(size, 0, trailer_offset(size)), subject)


def with_data(image: Image, data: bytes) -> Image:
    """Return the image with other bytes at the same place."""
    return replace(image, data=data)
