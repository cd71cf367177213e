"""Images too large to hold in memory: they are read in pieces.

The programmed bytes are the ones that were hashed.
"""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.files import write_chunks_atomically
from n6build.board.flash.program import carry_out, plan_delta
from n6build.board.flash.record import BoardRecord
from n6build.board.flash.sectors import Sector, wanted_sectors
from n6build.board.flash.virtual import VirtualProgrammer
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.slots import flash_of
from n6build.place.image.manifest import FlashFile, FlashManifest, make_manifest
from n6build.place.memory_plan.slot_image import slot_image
from n6build.place.memory_plan.whole_image import check_slot_data

BOARD = load_board("nucleo-n657")
MEGABYTE = 1 << 20
MEGABYTES = 12


@contextmanager
def memory_below(limit: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit


def weights(folder: Path) -> FlashManifest:
    """Write an image that differs in every megabyte; return its manifest."""
    path = folder / "weights.bin"
    pieces = (bytes([number]) * MEGABYTE for number in range(MEGABYTES))
    write_chunks_atomically(path, slot_image(pieces, 7))
    check_slot_data(path, MEGABYTES * MEGABYTE)
    return make_manifest(flash_of(BOARD), [FlashFile("weights", path)], folder)


def test_weights_on_their_way_to_a_board_are_never_whole_in_memory(tmp_path: Path) -> None:
    programmer = VirtualProgrammer(tmp_path / "board", BOARD.nor.base, BOARD.nor.size)
    # Verification reads larger pieces, and the sectors once more.
    with memory_below(MEGABYTES * MEGABYTE):
        wanted = wanted_sectors(weights(tmp_path), tmp_path)
        carry_out(plan_delta(wanted, BoardRecord(BOARD.name)), programmer)
    with programmer.nor.open("rb") as nor:
        nor.seek(BOARD.slots.weights.address - BOARD.nor.base)
        assert nor.read(MEGABYTES * MEGABYTE) == b"".join(bytes([number]) * MEGABYTE for number in range(MEGABYTES))


@pytest.fixture
def sector(tmp_path: Path) -> Sector:
    return wanted_sectors(weights(tmp_path), tmp_path)[20]


def test_a_file_that_changes_after_it_was_looked_at_is_not_programmed(tmp_path: Path, sector: Sector) -> None:
    assert len(sector.data) == sector.size
    with (tmp_path / "weights.bin").open("r+b") as file:
        file.seek(20 * sector.size + 5)
        file.write(os.urandom(64))
    with pytest.raises(N6Error, match=r"N6-FLASH-001.*weights.bin|weights.bin.*N6-FLASH-001"):
        _ = sector.data
