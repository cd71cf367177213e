"""Images of MCUboot: an Appli for its RAM-load mode, and programs out of images."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.place.image import mcuboot_format as mcuboot
from n6build.place.image.mcuboot_format import HEADER, RECORD, RECORDS

MAGIC = mcuboot.MAGIC.to_bytes(4, "little")
_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,5})(?:\+(\d{1,10}))?")
_LIMITS = 0xFF, 0xFF, 0xFFFF, 0xFFFFFFFF
_KINDS = (
    (mcuboot.ENCRYPTED, "is encrypted"),
    (mcuboot.COMPRESSED, "is compressed"),
    (mcuboot.NOT_BOOTABLE, "is not bootable"),
)


@dataclass(frozen=True)
class SigningKey:
    """A key that signs images for MCUboot.

    Attributes:
        public: The public key, as SubjectPublicKeyInfo in DER.
        sign: Function that returns the ECDSA signature (P-256 over SHA-256) of data in DER.
    """

    public: bytes
    sign: Callable[[bytes], bytes]


@dataclass(frozen=True)
class McubootImage:
    """An image of MCUboot.

    Attributes:
        address: Address of the program at run time; None if it is not in the image.
        program: The program.
        version: Its version, as MAJOR.MINOR.REVISION+BUILD.
        is_signed: The image has a signature. Nothing here verifies it.
        counter: Security counter, or None.
    """

    address: int | None
    program: bytes
    version: str
    is_signed: bool
    counter: int | None


def version_numbers(text: str) -> tuple[int, int, int, int]:
    """Return the numbers of a version.

    Raises:
        N6Error: N6-MCUBOOT-001 for a text that is no version of MCUboot.
    """
    match = _VERSION.fullmatch(text)
    numbers = tuple(int(each or 0) for each in match.groups()) if match else ()
    if not match or any(number > limit for number, limit in zip(numbers, _LIMITS, strict=True)):
        what = f"'{text[:40]}' is not a version such as 1.2.3 or 1.2.3+4, up to 255.255.65535+4294967295"
        raise N6Error("N6-MCUBOOT-001", what, where="mcuboot_version", hint="mcuboot_version=1.2.3")
    major, minor, revision, build = numbers
    return major, minor, revision, build


def mcuboot_image(
    program: bytes, address: int, header_bytes: int, version: str, counter: int, key: SigningKey | None
) -> bytes:
    """Return an image that MCUboot copies to RAM and starts.

    Args:
        program: The program, which begins with its vector table.
        address: Address of the vector table.
        header_bytes: Bytes in front of the program.
        version: Version of the image.
        counter: Security counter; 0 for an image without one.
        key: Key that signs, or None.

    Raises:
        N6Error: N6-MCUBOOT-001 for another version; errors of the key.
    """
    major, minor, revision, build = version_numbers(version)
    protected = (
        _records(mcuboot.PROTECTED_MAGIC, [(mcuboot.COUNTER, counter.to_bytes(4, "little"))]) if counter else b""
    )
    header = HEADER.pack(
        magic=mcuboot.MAGIC,
        load_address=address - header_bytes,
        header_bytes=header_bytes,
        protected_bytes=len(protected),
        program_bytes=len(program),
        flags=mcuboot.RAM_LOAD,
        major=major,
        minor=minor,
        revision=revision,
        build=build,
    )
    covered = header.ljust(header_bytes, b"\xff") + program + protected
    records = [(mcuboot.PROGRAM_SHA256, hashlib.sha256(covered).digest())]
    if key:
        records += [(mcuboot.KEY_SHA256, hashlib.sha256(key.public).digest()), (mcuboot.ECDSA, key.sign(covered))]
    return covered + _records(mcuboot.RECORDS_MAGIC, records)


def _records(magic: int, records: list[tuple[int, bytes]]) -> bytes:
    body = b"".join(RECORD.pack(type=type, bytes=len(data)) + data for type, data in records)
    return RECORDS.pack(magic=magic, bytes=RECORDS.size + len(body)) + body


def read_mcuboot_image(data: bytes, name: str) -> McubootImage:
    """Read an image, and compare its digest.

    Args:
        data: The image.
        name: Name of its file.

    Raises:
        N6Error: N6-MCUBOOT-002 if it is damaged; N6-MCUBOOT-003 if nothing but MCUboot can start it.
    """
    if len(data) < HEADER.size:
        raise N6Error("N6-MCUBOOT-002", f"{len(data)} bytes are fewer than a header of MCUboot", where=name)
    header = HEADER.unpack(data)
    found = next((text for flags, text in _KINDS if header["flags"] & flags), "")
    if found:
        hint = "pass the program that imgtool signed, or build the image without this option"
        raise N6Error("N6-MCUBOOT-003", f"{found}: only MCUboot can start it", where=name, hint=hint)
    end = header["header_bytes"] + header["program_bytes"]
    covered = end + header["protected_bytes"]
    if header["magic"] != mcuboot.MAGIC or header["header_bytes"] < HEADER.size or covered > len(data):
        what = f"says that it has {covered} bytes in front of its digest, and has {len(data)} in all"
        raise N6Error("N6-MCUBOOT-002", what, where=name, hint="copy the whole file again")
    protected = dict(_read_records(data, end, mcuboot.PROTECTED_MAGIC, name)) if header["protected_bytes"] else {}
    records = dict(_read_records(data, covered, mcuboot.RECORDS_MAGIC, name))
    if records.get(mcuboot.PROGRAM_SHA256) != hashlib.sha256(data[:covered]).digest():
        what = "has another SHA-256 than its content, or none"
        raise N6Error("N6-MCUBOOT-002", what, where=name, hint="copy the file again; MCUboot would refuse it as well")
    counter = protected.get(mcuboot.COUNTER)
    version = f"{header['major']}.{header['minor']}.{header['revision']}+{header['build']}"
    address = header["load_address"] + header["header_bytes"] if header["flags"] & mcuboot.RAM_LOAD else None
    return McubootImage(
        address,
        data[header["header_bytes"] : end],
        version,
        mcuboot.ECDSA in records,
        int.from_bytes(counter, "little") if counter is not None else None,
    )


def _read_records(data: bytes, start: int, magic: int, name: str) -> Iterator[tuple[int, bytes]]:
    head = RECORDS.unpack(data, start) if start + RECORDS.size <= len(data) else {"magic": 0, "bytes": 0}
    end = start + head["bytes"]
    if head["magic"] != magic or end > len(data):
        raise N6Error(
            "N6-MCUBOOT-002", f"has no whole records at {start}", where=name, hint="copy the whole file again"
        )
    at = start + RECORDS.size
    while at + RECORD.size <= end:
        record = RECORD.unpack(data, at)
        at += RECORD.size + record["bytes"]
        if at > end:
            raise N6Error("N6-MCUBOOT-002", f"has a record that ends behind {end}", where=name)
        yield record["type"], data[at - record["bytes"] : at]
