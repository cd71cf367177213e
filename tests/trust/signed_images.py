"""Small images of every kind, signed."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.formats.model_trailer import TRAILER as MODEL_TRAILER
from n6build.describe.formats.slot_trailer import TRAILER as SLOT_TRAILER
from n6build.describe.formats.trust_claim import Kind
from n6build.place.image.boot_header import with_boot_header
from n6build.place.memory_plan.slot_image import slot_image, trailer_offset
from n6build.place.reloc.slots import Identity, SelfTest, slot_chunks
from n6build.place.reloc.slots import trailer_offset as model_trailer_offset
from n6build.place.trust.keys import public_point, signature
from n6build.place.trust.sign import Sign, SlotParts, Statement, signed_appli, signed_slot

from trust.host_verifier import BOARD, SUBJECT, Image

ORIGIN = 0x3400_0400
PAYLOAD_OFFSET = 0x400
CHANGING = tuple(MODEL_TRAILER.offset_of(name) for name in ("revision", "trailer_crc32"))


@dataclass(frozen=True)
class Maker:
    """A maker of signed images for a board.

    Attributes:
        key: File of the private key.
        board: Name of the board.
        counter: Security counter of the images.
        subject: Model and part of it that the images are for.
    """

    key: Path
    board: str = BOARD
    counter: int = 0
    subject: bytes = SUBJECT

    @property
    def sign(self) -> Sign:
        return partial(signature, self.key, public_point(self.key))

    def statement(self, kind: Kind) -> Statement:
        return Statement(kind, self.counter, self.board, self.subject)

    def appli(self, random: random.Random, type: BinaryType = BinaryType.SSBL) -> Image:
        payload = struct.pack("<II", ORIGIN + 0x1000, ORIGIN | 9) + random.randbytes(random.randrange(8, 800))
        unsigned = with_boot_header(payload, ORIGIN, type, PAYLOAD_OFFSET)
        return Image(Kind.APPLI, signed_appli(unsigned, self.statement(Kind.APPLI), self.sign))

    def data(self, random: random.Random) -> Image:
        weights = random.randbytes(random.randrange(1, 400))
        parts = SlotParts(len(weights), 0, trailer_offset(len(weights)))
        image = signed_slot(b"".join(slot_image([weights], 7)), parts, self.statement(Kind.DATA), self.sign)
        return Image(Kind.DATA, image, 0, len(weights), SLOT_TRAILER.size)

    def model(self, random: random.Random) -> Image:
        code, weights = random.randbytes(16 * random.randrange(1, 20)), random.randbytes(random.randrange(0, 400))
        size = len(code) + len(weights)
        test = SelfTest(random.randbytes(random.randrange(0, 40)), 1)
        unsigned = b"".join(slot_chunks([code, weights], Identity(1, 2), test))
        parts = SlotParts(size, len(code), model_trailer_offset(size), CHANGING)
        image = signed_slot(unsigned, parts, self.statement(Kind.MODEL), self.sign)
        return Image(Kind.MODEL, image, len(code), len(weights), MODEL_TRAILER.size)

    def any(self, random: random.Random) -> Image:
        return random.choice((self.appli, self.data, self.model))(random)


def with_data(image: Image, data: bytes) -> Image:
    """Return the image with other bytes at the same place."""
    return replace(image, data=data)
