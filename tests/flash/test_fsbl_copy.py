"""An interrupted update of the FSBL leaves a valid one, with option fsbl_copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from firmware_build import BOARD
from n6build.base.errors import N6Error
from n6build.base.intel_hex import ERASED
from n6build.board.flash.program import carry_out, plan_delta
from n6build.board.flash.record import BoardRecord
from n6build.board.flash.sectors import Sector, sectors_of
from n6build.board.flash.virtual import VirtualProgrammer
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES, MAGIC, BinaryType
from n6build.place.image.boot_header import with_boot_header

PAGE = 256
PLACES = (BOARD.slots.fsbl.address, *BOARD.fsbl_copies)
_ADDRESS = BOARD.soc.boot.header_address + BOARD.soc.boot.payload_offset


def fsbl(fill: int) -> bytes:
    payload = (_ADDRESS + 0x1000).to_bytes(4, "little") + (_ADDRESS + 9).to_bytes(4, "little") + bytes([fill]) * 5000
    return with_boot_header(payload, _ADDRESS, BinaryType.FSBL, BOARD.soc.boot.payload_offset)


OLD, NEW = fsbl(1), fsbl(2)


@dataclass(frozen=True)
class CutProgrammer(VirtualProgrammer):
    """A programmer that loses power after some operations.

    Like some real ones it erases all sectors before it writes pages.

    Attributes:
        left: Operations that it still does, as a list with one number.
    """

    left: list[int] = field(default_factory=lambda: [1 << 30])

    def program(self, sectors: Sequence[Sector]) -> None:
        with self.nor.open("r+b") as nor:
            for sector in sectors:
                self._spend()
                nor.seek(sector.address - self.base)
                nor.write(bytes([ERASED]) * sector.size)
            for sector in sectors:
                assert isinstance(sector.content, bytes)
                for place in range(0, len(sector.content), PAGE):
                    self._spend()
                    nor.seek(sector.address - self.base + place)
                    nor.write(sector.content[place : place + PAGE])

    def _spend(self) -> None:
        self.left[0] -= 1
        if self.left[0] < 0:
            raise N6Error("N6-FLASH-003", "the cable was pulled")


def sectors(image: bytes, places: Sequence[int]) -> list[Sector]:
    return sectors_of([(place, image) for place in places], BOARD.nor.sector)


def programmer_of(folder: Path) -> CutProgrammer:
    programmer = CutProgrammer(folder, BOARD.nor.base, 1 << 20)
    programmer.nor.write_bytes(bytes([ERASED]) * programmer.size)
    return programmer


def update(folder: Path, places: Sequence[int], operations: int) -> bytes:
    """Cut an update from the old FSBL to the new one, and return the flash."""
    programmer = programmer_of(folder)
    record = carry_out(plan_delta(sectors(OLD, places), BoardRecord(BOARD.name)), programmer, BOARD.fsbl_copies)
    programmer.left[0] = operations
    try:
        carry_out(plan_delta(sectors(NEW, places), record), programmer, BOARD.fsbl_copies)
    except N6Error as error:
        assert error.id == "N6-FLASH-003"
    return programmer.nor.read_bytes()


def started(nor: bytes) -> bytes | None:
    """Return the FSBL that starts: the first one with a valid header and checksum."""
    for place in PLACES:
        image = nor[place - BOARD.nor.base :]
        size = HEADER_BYTES + BASE.unpack(image)["image_bytes"]
        if image.startswith(MAGIC) and size <= len(image):
            image = image[:size]
            if sum(image[HEADER_BYTES:]) & 0xFFFF_FFFF == BASE.unpack(image)["checksum"]:
                return image
    return None


# Each place: an erase, and the pages of an image.
OPERATIONS = 2 * (1 + -(-len(OLD) // PAGE))


def test_a_cut_after_any_operation_leaves_a_valid_fsbl(tmp_path: Path) -> None:
    ends = [started(update(tmp_path, PLACES, operations)) for operations in range(OPERATIONS + 1)]
    # The new copy starts as soon as the erase of the first place is done.
    half = OPERATIONS // 2
    assert ends == [OLD] * (half + 1) + [NEW] * half


def test_without_a_copy_a_cut_leaves_none(tmp_path: Path) -> None:
    ends = [started(update(tmp_path, PLACES[:1], operations)) for operations in range(OPERATIONS // 2 + 1)]
    assert ends == [OLD, *[None] * (OPERATIONS // 2 - 1), NEW]


@pytest.mark.parametrize("held", [0, 1])
def test_one_damaged_copy_is_not_missed(held: int, tmp_path: Path) -> None:
    programmer = programmer_of(tmp_path)
    wanted = sectors(OLD, PLACES)
    carry_out(plan_delta(wanted, BoardRecord(BOARD.name)), programmer, BOARD.fsbl_copies)
    nor = bytearray(programmer.nor.read_bytes())
    nor[PLACES[held] - BOARD.nor.base + HEADER_BYTES + 1000] ^= 1
    assert started(bytes(nor)) == OLD
