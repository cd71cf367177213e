"""Requests to an FSBL that waits for a release, and its answers.

They are in the frames of the link. No request reads the flash: a CRC covers whole sectors, and an
address is only programmed in a sector that was erased before.
"""

from __future__ import annotations

from enum import IntEnum

from n6build.base.c_format import Constant, Enumeration, Format, Member, Struct

VERSION = 1
SECTOR_BYTES = 4096
# A number of whole blocks of parts that correct errors, 16 bytes each.
DATA_MAX = 192


class Type(IntEnum):
    """Type of a request, none of which is a type of the link."""

    HELLO = 32
    CRC = 33
    ERASE = 34
    WRITE = 35
    START = 36


class Status(IntEnum):
    """Status of an answer.

    Attributes:
        OK: The request was carried out.
        UNKNOWN: There is no such type.
        RANGE: The address is not one that recovery may use, or the length is wrong.
        FAILED: The NOR reports a failure, or holds other bytes afterwards.
    """

    OK = 0
    UNKNOWN = 1
    RANGE = 2
    FAILED = 3


HELLO_ANSWER = Struct(
    "n6_recovery_hello_answer_t",
    (
        Member("version", kind="uint16_t"),
        Member("is_held", "1: the pin was held; 0: no Appli is valid", "uint16_t"),
        Member("first", "address that may be written, behind the FSBL"),
        Member("end", "of the NOR"),
    ),
    "Behind it the name of the board.",
)
CRC_REQUEST = Struct("n6_recovery_crc_request_t", (Member("address"), Member("bytes", "of whole sectors")))
CRC_ANSWER = Struct("n6_recovery_crc_answer_t", (Member("crc32"),))
ERASE_REQUEST = Struct("n6_recovery_erase_request_t", (Member("address", "of a sector"),))
WRITE_REQUEST = Struct(
    "n6_recovery_write_request_t", (Member("address", "in the last erased sector"),), "Behind it the data."
)

FORMAT = Format(
    "n6_recovery_format.h",
    ("Requests to an FSBL that waits for a release, and its answers, in the frames of n6_link_format.h.",),
    constants=(
        Constant("N6_RECOVERY_VERSION", VERSION),
        Constant("N6_RECOVERY_SECTOR_BYTES", SECTOR_BYTES, "that one erase covers"),
        Constant("N6_RECOVERY_DATA_MAX", DATA_MAX, "bytes of a write"),
    ),
    enumerations=(
        Enumeration(
            "n6_recovery_type_t",
            "N6_RECOVERY_",
            Type,
            {
                "CRC": "CRC-32 of whole sectors",
                "ERASE": "a sector, in which WRITE may then write",
                "WRITE": "compares what it has programmed",
                "START": "a reset, after the answer",
            },
        ),
        Enumeration(
            "n6_recovery_status_t",
            "N6_RECOVERY_",
            Status,
            {
                "UNKNOWN": "no such type",
                "RANGE": "not an address or length for it",
                "FAILED": "the NOR holds other bytes",
            },
        ),
    ),
    structs=(HELLO_ANSWER, CRC_REQUEST, CRC_ANSWER, ERASE_REQUEST, WRITE_REQUEST),
)
