"""Images of MCUboot: a header, the program, then its digest and signature.

The latter are records of type, length and value (TLV). Source: MCUboot's design document, and images of
its own tool imgtool, which the tests compare with.
"""

from __future__ import annotations

from n6build.base.c_format import Member, Struct

MAGIC = 0x96F3B83D
HEADER = Struct(
    "mcuboot_header_t",
    (
        Member("magic"),
        Member("load_address"),
        Member("header_bytes", "up to the program", kind="uint16_t"),
        Member("protected_bytes", "of the records that the digest covers", kind="uint16_t"),
        Member("program_bytes"),
        Member("flags"),
        Member("major", kind="uint8_t"),
        Member("minor", kind="uint8_t"),
        Member("revision", kind="uint16_t"),
        Member("build"),
        Member("reserved"),
    ),
)
RECORDS = Struct("mcuboot_records_t", (Member("magic", kind="uint16_t"), Member("bytes", kind="uint16_t")))
RECORD = Struct("mcuboot_record_t", (Member("type", kind="uint16_t"), Member("bytes", kind="uint16_t")))
RECORDS_MAGIC, PROTECTED_MAGIC = 0x6907, 0x6908

# Flags. A program with RAM_LOAD is copied to its load address, header and all.
RAM_LOAD = 0x20
NOT_BOOTABLE = 0x10
ENCRYPTED = 0x04 | 0x08
COMPRESSED = 0x200 | 0x400 | 0x800

# Types of records.
KEY_SHA256, PROGRAM_SHA256, ECDSA, COUNTER = 0x01, 0x10, 0x22, 0x50
