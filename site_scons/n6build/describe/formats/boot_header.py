"""The header that boot ROM and FSBL expect in front of a program: version 2.3.

Layout checked byte by byte against images made by STM32_SigningTool_CLI: 0xA0 bytes of base header, a padding extension up to
0x240, zeros up to the payload. The chip's description says where the payload begins.
"""

from __future__ import annotations

from enum import IntEnum

from n6build.base.c_format import Constant, Format, Member, Struct

MAGIC = b"STM2"
HEADER_BYTES = 0x240
VERSION_2_3 = 0x0002_0300
# Programs for earlier silicon have this version; the fields are at the same offsets (published images of both).
VERSION_2_1 = 0x0002_0100
ACCEPTED_VERSIONS = (VERSION_2_1, VERSION_2_3)
# A payload begins with the stack pointer and the reset vector.
VECTOR_BYTES = 8
# The processor ignores the last two bits of the stack pointer (Armv8-M manual, reset). ST's OpenBootloader begins with a multiple
# of 4 only.
STACK_ALIGNMENT = 4
# A signature covers these bytes of the base header, from the version on, and everything behind that header (table 32 of
# ST's UM3234). No signed image was available.
SIGNED_OFFSET, SIGNED_BYTES = 0x68, 0x30
AUTHENTICATION_TYPE = b"ST\x00\x02"
HAS_AUTHENTICATION, HAS_ENCRYPTION = 1, 2
ALGORITHM_P256 = 1


class BinaryType(IntEnum):
    """The type of a program: the boot ROM loads an FSBL, an FSBL loads an SSBL."""

    SSBL = 0x00
    FSBL = 0x10


BASE = Struct(
    "n6_boot_header_t",
    (
        Member("magic"),
        Member("signature", kind="uint8_t", count=96),
        Member("checksum", "sum of the bytes behind the header, modulo 2^32"),
        Member("version"),
        Member("image_bytes", "behind the header"),
        Member("entry", "Thumb bit kept: the reset vector"),
        Member("reserved_0"),
        Member("load_address"),
        Member("reserved_1"),
        Member("image_version", "a monotonic counter"),
        Member("extensions"),
        Member("extension_bytes"),
        Member("binary_type"),
        Member("reserved_3", kind="uint8_t", count=16),
    ),
)

# Behind it come the digests of all keys, 32 bytes each (table 34 of UM3234).
AUTHENTICATION = Struct(
    "n6_boot_authentication_t",
    (
        Member("type"),
        Member("bytes", "with the digests behind this struct"),
        Member("key_number", "of the key that signs, in the table"),
        Member("key_count"),
        Member("algorithm"),
        Member("key", "its point, without a first byte", kind="uint8_t", count=96),
    ),
)

FORMAT = Format(
    "n6_boot_header.h",
    (
        "The header in front of a program in flash, version 2.3. Behind it are zeros, then the payload, which begins",
        "with its vector table. The chip determines its offset (N6_BOOT_PAYLOAD_OFFSET, N6_APPLI_PAYLOAD_OFFSET in "
        "n6_soc.h).",
    ),
    constants=(
        Constant("N6_BOOT_HEADER_MAGIC", int.from_bytes(MAGIC, "little"), "STM2"),
        Constant("N6_BOOT_HEADER_VERSION", VERSION_2_3),
        Constant("N6_BOOT_HEADER_VERSION_2_1", VERSION_2_1, "also accepted"),
        Constant("N6_BOOT_HEADER_BYTES", HEADER_BYTES, "with its padding extension"),
        Constant(
            "N6_BOOT_SIGNED_OFFSET",
            SIGNED_OFFSET,
            "of the signed bytes, together with all bytes behind n6_boot_header_t",
        ),
        Constant("N6_BOOT_SIGNED_BYTES", SIGNED_BYTES),
        Constant(
            "N6_BOOT_EXTENSION_AUTHENTICATION", HAS_AUTHENTICATION, "in `extensions`: keys are behind n6_boot_header_t"
        ),
        Constant("N6_BOOT_EXTENSION_ENCRYPTION", HAS_ENCRYPTION, "in `extensions`: the program is encrypted"),
        Constant("N6_BOOT_AUTHENTICATION_TYPE", int.from_bytes(AUTHENTICATION_TYPE, "little"), "of that extension"),
        Constant("N6_BOOT_P256", ALGORITHM_P256, "ECDSA on P-256 over SHA-256"),
        Constant("N6_BOOT_BINARY_SSBL", BinaryType.SSBL, "type of a program that an FSBL loads"),
        Constant("N6_VECTOR_BYTES", VECTOR_BYTES, "stack and reset vector, with which a payload begins"),
    ),
    structs=(BASE, AUTHENTICATION),
)
