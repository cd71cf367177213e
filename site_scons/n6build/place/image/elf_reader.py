"""Reader of ELF files: bytes to load before a start, sections and symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n6build.base.elf_damage import MOST_CONTENT, content_of, open_elf, sound_elf, symbols_in
from n6build.base.errors import N6Error
from n6build.base.files import require_at_most

# Bits of sh_flags: SHF_ALLOC, SHF_EXECINSTR.
_ALLOCATED, _EXECUTABLE = 2, 4


@dataclass(frozen=True)
class Payload:
    """All bytes of a program that must be in memory before it starts.

    Attributes:
        address: Address of the first byte, the vector table.
        data: All loadable bytes, with gaps filled with zeros.
    """

    address: int
    data: bytes


@dataclass(frozen=True)
class Section:
    """A section that takes memory at run time; `is_code` if it holds instructions."""

    name: str
    address: int
    bytes: int
    is_code: bool = False


@dataclass(frozen=True)
class Symbol:
    """A variable or function.

    Attributes:
        name: Name of the symbol.
        address: Address, with the Thumb bit of a function cleared.
        bytes: Size; 0 if it is unknown.
    """

    name: str
    address: int
    bytes: int = 0


def loaded_parts(path: Path, most_of_file: int, most: int) -> list[tuple[int, bytes]]:
    """Return the parts of a third-party program that must be loaded.

    Args:
        path: ELF file.
        most_of_file: Allowed bytes of the file.
        most: Allowed bytes of all parts.

    Returns:
        (load address, bytes) of each part, sorted by address.

    Raises:
        N6Error: N6-FILE-003 if the file is too large; N6-IMAGE-001 if it is not such an ELF file.
    """
    require_at_most(path, most_of_file)
    parts: list[tuple[int, bytes]] = []
    with sound_elf("N6-IMAGE-001", path):
        elf = open_elf(path)
        for segment in elf.iter_segments("PT_LOAD"):
            size = segment["p_filesz"]
            most -= size
            if most < 0:
                raise N6Error("N6-IMAGE-001", f"has {-most} more bytes to load than the NOR has", where=path.name)
            if size:
                data = segment.data()
                if len(data) != size:
                    raise N6Error("N6-IMAGE-001", "ends before its last segment", where=path.name)
                own = _bytes_of_headers(elf, segment)
                parts.append((segment["p_paddr"] + own, data[own:]))
    if not parts:
        raise N6Error("N6-IMAGE-001", "has nothing to load", where=path.name)
    return sorted(parts)


def _bytes_of_headers(elf: Any, segment: Any) -> int:
    """Return the bytes of a segment that are headers of the ELF file itself.

    A linker that aligns segments to pages (without --nmagic) puts these headers into the first segment,
    if there is room below the first section. They are not part of the program.
    """
    if segment["p_offset"] != 0:
        return 0
    starts = [
        section["sh_offset"]
        for section in elf.iter_sections()
        if section["sh_flags"] & _ALLOCATED and section["sh_type"] != "SHT_NOBITS" and section["sh_size"]
    ]
    return min((start for start in starts if start < segment["p_filesz"]), default=0)


def payload_of(path: Path) -> Payload:
    """Return the payload by load (physical) address.

    Initialised data is then at the address that start-up code copies it from.

    Raises:
        N6Error: N6-IMAGE-001 if the file is not an ELF file or has nothing to load.
    """
    segments = _read(
        path,
        lambda elf: [
            (segment["p_paddr"], segment.data())
            for segment in elf.iter_segments()
            if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]
        ],
    )
    if not segments:
        raise N6Error("N6-IMAGE-001", "has nothing to load", where=path.name)
    start = min(address for address, _ in segments)
    size = max(address + len(content) for address, content in segments) - start
    if size > MOST_CONTENT:
        raise N6Error("N6-IMAGE-001", f"is spread over {size} bytes of memory", where=path.name)
    return Payload(start, joined_parts(segments))


def joined_parts(parts: Sequence[tuple[int, bytes]]) -> bytes:
    """Return parts as one program, from the lowest address to the highest.

    Gaps are filled with zeros, as a loader of ELF files leaves them. The caller limits the distance of the parts.

    Args:
        parts: Address and bytes of each part, at least one.
    """
    start, end = min(address for address, _ in parts), max(address + len(data) for address, data in parts)
    whole = bytearray(end - start)
    for address, data in parts:
        whole[address - start : address - start + len(data)] = data
    return bytes(whole)


def allocated_sections(path: Path) -> list[Section]:
    """Return the sections that take memory at run time, sorted by address.

    Raises:
        N6Error: N6-IMAGE-001 if the file is not an ELF file.
    """
    sections = [
        Section(section.name, section["sh_addr"], section["sh_size"], bool(section["sh_flags"] & _EXECUTABLE))
        for section in _read(path, lambda elf: list(elf.iter_sections()))
        if section["sh_flags"] & _ALLOCATED and section["sh_size"]
    ]
    return sorted(sections, key=lambda section: section.address)


def symbols_of(path: Path) -> list[Symbol]:
    """Return variables and functions, sorted by address.

    Raises:
        N6Error: N6-IMAGE-001 if the file is not a valid ELF file.
    """
    found = []
    for symbol in _read(path, lambda elf: list(symbols_in(elf))):
        kind = symbol["st_info"]["type"]
        # GCC for Arm gives static variables without a value a size, but no type.
        is_variable = kind == "STT_OBJECT" or (kind == "STT_NOTYPE" and symbol["st_size"])
        if (is_variable or kind == "STT_FUNC") and symbol["st_shndx"] != "SHN_UNDEF":
            address = symbol["st_value"] & ~1 if kind == "STT_FUNC" else symbol["st_value"]
            found.append(Symbol(symbol.name, address, symbol["st_size"]))
    return sorted(found, key=lambda symbol: (symbol.address, symbol.name))


def bytes_at(path: Path, address: int, size: int) -> bytes:
    """Return a program's bytes at an address when it starts, or none.

    The result is empty if the file does not contain them.

    Raises:
        N6Error: N6-IMAGE-001 if the file is not a valid ELF file.
    """
    return b"".join(_read(path, lambda elf: list(_contents_at(elf, address, size))[:1]))


def _contents_at(elf: Any, address: int, size: int) -> Iterator[bytes]:
    for section in elf.iter_sections():
        start = section["sh_addr"]
        inside = start <= address and address + size <= start + section["sh_size"]
        if inside and section["sh_flags"] & _ALLOCATED and section["sh_type"] != "SHT_NOBITS":
            yield content_of(section)[address - start : address - start + size]


def labels_of(path: Path) -> dict[str, int]:
    """Return symbols without a type, such as those of a linker script: name -> value.

    Raises:
        N6Error: N6-IMAGE-001 if the file is not a valid ELF file.
    """
    return {
        symbol.name: symbol["st_value"]
        for symbol in _read(path, lambda elf: list(symbols_in(elf)))
        if symbol["st_info"]["type"] == "STT_NOTYPE" and not symbol["st_size"] and symbol["st_shndx"] != "SHN_UNDEF"
    }


def _read(path: Path, what: Callable[[Any], list[Any]]) -> list[Any]:
    """Read a list from an ELF file, with N6-IMAGE-001 for a damaged one."""
    with sound_elf("N6-IMAGE-001", path):
        return what(open_elf(path))
