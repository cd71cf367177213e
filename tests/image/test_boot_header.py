"""The boot header that the boot ROM checks, byte by byte."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.describe.formats.boot_header import BASE, BinaryType
from n6build.place.image.boot_header import check_foreign_header, with_boot_header
from n6build.place.memory_plan.whole_image import check_program
from samples import sample

ADDRESS = 0x3418_0400
ENTRY = 0x3418_0501
OFFSET = 0x400
PAYLOAD = struct.pack("<II", 0x3420_0000, ENTRY) + bytes(range(256)) * 3

# Each row has offset and bytes of a field, for a payload of 776 bytes.
FIELDS = [
    (0x000, b"STM2"),
    (0x004, bytes(96)),
    (0x064, struct.pack("<I", sum(PAYLOAD))),
    (0x068, bytes([0x00, 0x03, 0x02, 0x00])),
    (0x06C, struct.pack("<I", 0x1C0 + len(PAYLOAD))),
    (0x070, struct.pack("<I", ENTRY)),
    (0x074, bytes(4)),
    (0x078, b"\xff" * 4),
    (0x07C, bytes(8)),
    (0x084, struct.pack("<I", 0x8000_0000)),
    (0x088, struct.pack("<I", 0x1A0)),
    (0x08C, struct.pack("<I", 0x10)),
    (0x090, bytes(16)),
    (0x0A0, b"ST\xff\xff"),
    (0x0A4, struct.pack("<I", 0x1A0)),
    (0x240, bytes(0x1C0)),
    (0x400, PAYLOAD),
]


@pytest.mark.parametrize(("offset", "value"), FIELDS, ids=[f"0x{offset:03x}" for offset, _ in FIELDS])
def test_field(offset: int, value: bytes) -> None:
    assert with_boot_header(PAYLOAD, ADDRESS, BinaryType.FSBL, OFFSET)[offset : offset + len(value)] == value


def test_an_appli_is_an_ssbl() -> None:
    assert BASE.unpack(with_boot_header(PAYLOAD, ADDRESS, BinaryType.SSBL, OFFSET))["binary_type"] == 0


@given(st.integers(0, 8))
def test_the_payload_begins_where_the_chip_says(more: int) -> None:
    offset = 0x240 + 0x100 * more
    image = with_boot_header(PAYLOAD, ADDRESS, BinaryType.FSBL, offset)
    assert (image[0x240:offset], image[offset:]) == (bytes(offset - 0x240), PAYLOAD)
    check_program(image, BinaryType.FSBL, offset, "x")
    assert BASE.unpack(image)["entry"] == ENTRY
    with pytest.raises(N6Error, match="N6-IMAGE-004"):
        check_program(image, BinaryType.FSBL, offset + 0x100, "x")


def test_equal_payloads_give_equal_images() -> None:
    assert with_boot_header(PAYLOAD, ADDRESS, BinaryType.FSBL, OFFSET) == with_boot_header(
        PAYLOAD, ADDRESS, BinaryType.FSBL, OFFSET
    )


@given(st.binary(max_size=300), st.integers(0, 3))
def test_every_image_is_read_back(rest: bytes, half_entry: int) -> None:
    entry = ADDRESS + half_entry * 2 + 1
    payload = struct.pack("<II", 0, entry) + rest
    image = with_boot_header(payload, ADDRESS, BinaryType.SSBL, OFFSET)
    check_program(image, BinaryType.SSBL, OFFSET, "x")
    header = BASE.unpack(image)
    assert (header["entry"], header["image_bytes"], header["checksum"]) == (entry, 0x1C0 + len(payload), sum(payload))


@given(st.integers(0x240, 0x240 + 0x1C0 + len(PAYLOAD) - 1), st.integers(1, 255))
def test_one_changed_byte_behind_the_header_is_noticed(offset: int, difference: int) -> None:
    image = bytearray(with_boot_header(PAYLOAD, ADDRESS, BinaryType.FSBL, OFFSET))
    image[offset] = (image[offset] + difference) % 256
    with pytest.raises(N6Error, match="checksum"):
        check_program(bytes(image), BinaryType.FSBL, OFFSET, "x")


@given(st.binary(max_size=1200))
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(N6Error, match="N6-IMAGE-004"):
        check_program(data, BinaryType.FSBL, OFFSET, "x")


def test_a_reset_vector_without_thumb_bit_is_refused() -> None:
    with pytest.raises(N6Error, match="0x34180500 has no Thumb bit"):
        with_boot_header(struct.pack("<II", 0, 0x3418_0500), ADDRESS, BinaryType.FSBL, OFFSET)


@pytest.mark.parametrize("entry", [ADDRESS - 1, ADDRESS + 9, 0x464C457F])
def test_a_reset_vector_outside_the_program_is_refused(entry: int) -> None:
    with pytest.raises(N6Error, match="is outside the program"):
        with_boot_header(struct.pack("<II", 0, entry), ADDRESS, BinaryType.FSBL, OFFSET)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(
            (f"{build}-{part}-trusted.bin", 16)
            for build in ("LoadAndRun", "PSRAM", "XIP")
            for part in ("FSBL", "Appli")
        ),
        ("fsbl_fw_lrun_v1.2.0.bin", 16),
        ("aed_bm.bin", 0),
    ],
)
def test_images_that_st_s_tool_has_signed_come_out_the_same_but_for_its_random_bytes(name: str, kind: int) -> None:
    image = sample(f"boot/{name}").read_bytes()
    check_program(image, BinaryType(kind), OFFSET, name)
    ours = with_boot_header(image[0x400:], BASE.unpack(image)["entry"] & ~0xFFF, BinaryType(kind), OFFSET)
    random = slice(0xA8, 0x240)
    assert (ours[: random.start], ours[random.stop :]) == (image[: random.start], image[random.stop :])


def test_an_image_signed_without_align_names_the_option() -> None:
    image = with_boot_header(PAYLOAD, ADDRESS, BinaryType.FSBL, 0x240)
    with pytest.raises(
        N6Error, match=r"signed without -align: its vector table is at 0x240 of the file, not at 0x400"
    ) as caught:
        check_foreign_header(image, "x", OFFSET)
    assert (caught.value.id, "-align" in (caught.value.hint or "")) == ("N6-IMAGE-004", True)
    check_foreign_header(with_boot_header(PAYLOAD, ADDRESS, BinaryType.FSBL, OFFSET), "x", OFFSET)


def test_a_published_image_is_such_a_one() -> None:
    with pytest.raises(N6Error, match="signed without -align"):
        check_foreign_header(sample("boot/STM32N6DK2_FSBL-Trusted.bin").read_bytes(), "x", OFFSET)
