"""Images that were changed after they were made get no place in a manifest.

They were emptied, cut off or altered.
"""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.describe.formats.boot_header import BASE, BinaryType
from n6build.describe.hardware.boards import load_board
from n6build.engine.step import Call
from n6build.place.image.boot_header import with_boot_header
from n6build.place.memory_plan.plan import Content, MemoryPlan, PlannedImage, plan_json
from n6build.place.memory_plan.slot_image import slot_image
from n6build.place.memory_plan.whole_image import check_program, check_slot_data
from n6build.steps import flash_manifest
from n6build.steps.flash_manifest import FlashPart, flash_manifest_step

ADDRESS = 0x3400_0400
PROGRAM = with_boot_header(
    struct.pack("<II", 0x3410_0000, ADDRESS + 9) + bytes(range(200)), ADDRESS, BinaryType.SSBL, 0x400
)
WEIGHTS = bytes(range(100))
STORED = b"".join(slot_image([WEIGHTS[:40], WEIGHTS[40:]], 7))


def check(image: bytes) -> None:
    check_program(image, BinaryType.SSBL, 0x400, "appli_image.bin")


@given(st.integers(0, len(PROGRAM) - 1))
def test_a_program_that_was_cut_off_is_refused(size: int) -> None:
    check(PROGRAM)
    with pytest.raises(N6Error, match="N6-IMAGE-004"):
        check(PROGRAM[:size])


@given(
    st.integers(0x240, len(PROGRAM) - 1)
    | st.sampled_from([0, 3, BASE.offset_of("entry"), BASE.offset_of("binary_type")])
)
def test_a_program_with_another_byte_is_refused(at: int) -> None:
    with pytest.raises(N6Error, match="N6-IMAGE-004"):
        check(PROGRAM[:at] + bytes([PROGRAM[at] ^ 0x10]) + PROGRAM[at + 1 :])


def test_the_program_of_another_slot_is_refused() -> None:
    with pytest.raises(N6Error, match="has type 0x00, but a program for this slot has 0x10"):
        check_program(PROGRAM, BinaryType.FSBL, 0x400, "fsbl_image.bin")


def check_stored(image: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.bin"
        path.write_bytes(image)
        check_slot_data(path, len(WEIGHTS))


@given(st.data())
def test_weights_that_were_cut_off_or_altered_are_refused(data: st.DataObject) -> None:
    check_stored(STORED)
    if data.draw(st.booleans()):
        image = STORED[: data.draw(st.integers(0, len(STORED) - 1))]
    else:
        at = data.draw(st.integers(0, len(WEIGHTS) - 1))
        image = STORED[:at] + bytes([STORED[at] ^ 1]) + STORED[at + 1 :]
    with pytest.raises(N6Error, match="N6-IMAGE-009"):
        check_stored(image)


@pytest.mark.parametrize(
    ("file", "damage", "id"),
    [
        ("appli_image.bin", b"", "N6-IMAGE-008"),
        ("appli_image.bin", PROGRAM[:-1], "N6-IMAGE-004"),
        ("weights.bin", b"", "N6-IMAGE-009"),
        ("weights.bin", STORED[:-1], "N6-IMAGE-009"),
    ],
)
def test_the_manifest_is_not_made_of_damaged_images(tmp_path: Path, file: str, damage: bytes, id: str) -> None:
    board = load_board("nucleo-n657")
    planned = PlannedImage(
        "net", "xSPI2", "w.raw", "weights.bin", board.slots.weights.address, board.slots.weights.address, 100, 7, False
    )
    plan = MemoryPlan("m", board.name, "p", (), (planned,), (), (), (), (), 32)
    for name, content in (
        ("plan.json", plan_json(plan).encode()),
        ("appli_image.bin", PROGRAM),
        ("weights.bin", STORED),
    ):
        (tmp_path / name).write_bytes(content)
    parts = [
        FlashPart("appli", str(tmp_path / "appli_image.bin")),
        FlashPart("weights", str(tmp_path / "weights.bin"), Content("weights", "net", "w.raw")),
    ]
    step = flash_manifest_step(str(tmp_path / "m.json"), parts, str(tmp_path / "plan.json"), board)
    call = Call((tmp_path / "m.json",), tuple(map(Path, step.sources)), step.parameters, tmp_path)
    flash_manifest.perform_flash_manifest(call)
    (tmp_path / "m.json").unlink()
    (tmp_path / file).write_bytes(damage)
    with pytest.raises(N6Error, match=f"{id}: .*|{file}.*{id}"):
        flash_manifest.perform_flash_manifest(call)
    assert not (tmp_path / "m.json").exists()
