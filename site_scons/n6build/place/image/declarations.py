"""Source positions of a program's variables and functions, from its DWARF.

The file may contain anything, so the number of bytes and entries is limited, references are followed
only to a small depth, and invalid information is treated as missing.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from n6build.base.elf_damage import elf_damage, open_elf
from n6build.base.paths import project_path

_MAX_DEBUG_BYTES = 256 << 20
# Limit of the search for one name; a large HAL header has some thousand entries.
_MAX_ENTRIES = 400_000
_MAX_PLACES_OF_A_NAME = 64
_OWN_TAGS = ("DW_TAG_variable", "DW_TAG_subprogram")
_OP_ADDR = 3
# Most references from a variable over its qualifiers to the name of its type.
_MAX_HOPS = 8


class Declarations:
    """Declarations of one ELF file; a file without sound debug information has none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[tuple[str, int | None], str] = {}

    def place(self, name: str, address: int | None = None) -> str:
        """Return the source position as file:line, or an empty text if it is unknown.

        The file is relative to the working directory; outside of it, only the file's name is given.

        Args:
            name: Name as the linker has it.
            address: Address, to select one of several with that name.
        """
        if (name, address) not in self._known:
            try:
                self._known[name, address] = self._place(name, address)
            except elf_damage():
                self._known[name, address] = ""
        return self._known[name, address]

    def arrays_of(self, type: str) -> list[tuple[str, int]]:
        """Return names and addresses of the variables that are arrays of a named type.

        The list is empty if that is unknown.
        """
        found: list[tuple[str, int]] = []
        try:
            for entry, unit in self._entries_with(type):
                address = _address_of(entry) if entry.tag == "DW_TAG_variable" else None
                if address is not None and _element_type(unit, entry) == type:
                    found += [(name, address) for name in sorted(_names_of(entry))[:1]]
        except elf_damage():
            return []
        return found

    @cached_property
    def _dwarf(self) -> Any:
        """Return the DWARFInfo, or None if there is none that can be read."""
        try:
            elf = open_elf(self._path)
            sizes = [section.data_size for section in elf.iter_sections() if section.name.startswith(".debug_")]
            if not sizes or sum(sizes) > _MAX_DEBUG_BYTES or elf.get_section_by_name(".debug_info") is None:
                return None
            return elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)
        except elf_damage():
            return None

    def _place(self, name: str, address: int | None) -> str:
        second = ""
        for entry, unit in self._entries_with(name):
            if entry.tag not in _OWN_TAGS or name not in _names_of(entry):
                continue
            at = _address_of(entry)
            if place := self._place_of(unit, entry) or self._place_of(unit, _declared(unit, entry)):
                if at is not None and (address is None or at == address):
                    return place
                if at is None and not second:
                    second = place
        return second

    def _entries_with(self, name: str) -> Iterator[tuple[Any, Any]]:
        """Yield entries with their compilation units, up to a limit.

        Only units that contain the name are searched.
        """
        left = _MAX_ENTRIES
        for unit in self._units_with(name):
            for entry in _entries_of(unit):
                left -= 1 + len(entry.attributes)
                if left < 0:
                    return
                yield entry, unit

    def _units_with(self, name: str) -> Iterator[Any]:
        """Yield compilation units whose bytes contain the name or a reference to it."""
        dwarf = self._dwarf
        if dwarf is None:
            return
        info = dwarf.debug_info_sec.stream.getvalue()
        wanted = name.encode(errors="replace") + b"\0"
        marks = [wanted]
        if dwarf.debug_str_sec is not None:
            strings = dwarf.debug_str_sec.stream.getvalue()
            at = strings.find(wanted)
            while at >= 0 and len(marks) <= _MAX_PLACES_OF_A_NAME:
                marks.append(struct.pack("<I", at))
                at = strings.find(wanted, at + 1)
        for unit in dwarf.iter_CUs():
            end = unit.cu_offset + unit.size
            if any(info.find(mark, unit.cu_offset, end) >= 0 for mark in marks):
                yield unit

    def _place_of(self, unit: Any, entry: Any) -> str:
        line, file = (entry.attributes.get(f"DW_AT_decl_{what}") for what in ("line", "file"))
        if line is None or file is None or not line.value:
            return ""
        header = self._dwarf.line_program_for_CU(unit).header
        first = 0 if header.version >= 5 else 1
        index = file.value - first
        if not 0 <= index < len(header.file_entry):
            return ""
        written = header.file_entry[index]
        folders = [os.fsdecode(folder) for folder in header.include_directory]
        above = _text(next(_entries_of(unit)), "DW_AT_comp_dir")
        number = written.dir_index - first
        folder = folders[number] if 0 <= number < len(folders) else ""
        path = project_path(os.path.join(above, folder, os.fsdecode(written.name)))  # noqa: PTH118 - may be empty
        return f"{Path(path).name if os.path.isabs(path) else path}:{int(line.value)}"  # noqa: PTH117 - as above


def _entries_of(unit: Any) -> Iterator[Any]:
    """Yield all entries in the order of the file.

    Each entry is at least one byte long, so that this ends.
    """
    from elftools.dwarf.die import DIE  # noqa: PLC0415

    offset, end = unit.cu_die_offset, unit.cu_offset + unit.size
    stream = unit.dwarfinfo.debug_info_sec.stream
    unit.get_top_DIE()
    while offset < end:
        entry = DIE(cu=unit, stream=stream, offset=offset)
        yield entry
        offset += max(1, entry.size)


def _declared(unit: Any, entry: Any) -> Any:
    """Return the class declaration that an entry completes, else the entry itself."""
    return _referred(unit, entry, "DW_AT_specification") or entry


def _element_type(unit: Any, entry: Any) -> str:
    """Return the name of an array's element type, or an empty text.

    The text is empty if the entry is not an array, or the type has no name.
    """
    is_array = False
    for _ in range(_MAX_HOPS):
        entry = _referred(unit, entry, "DW_AT_type")
        if entry is None:
            return ""
        is_array = is_array or entry.tag == "DW_TAG_array_type"
        if entry.tag == "DW_TAG_typedef":
            return _text(entry, "DW_AT_name") if is_array else ""
    return ""


def _referred(unit: Any, entry: Any, attribute: str) -> Any:
    """Return the entry of the same unit that an attribute refers to, or None."""
    from elftools.dwarf.die import DIE  # noqa: PLC0415

    of = entry.attributes.get(attribute)
    offset = unit.cu_offset + of.value if of is not None and isinstance(of.value, int) else 0
    inside = unit.cu_die_offset <= offset < unit.cu_offset + unit.size
    return DIE(cu=unit, stream=unit.dwarfinfo.debug_info_sec.stream, offset=offset) if inside else None


def _names_of(entry: Any) -> set[str]:
    return {_text(entry, "DW_AT_name"), _text(entry, "DW_AT_linkage_name")} - {""}


def _text(entry: Any, name: str) -> str:
    attribute = entry.attributes.get(name)
    return os.fsdecode(attribute.value) if attribute and isinstance(attribute.value, bytes) else ""


def _address_of(entry: Any) -> int | None:
    """Return the address of a static variable or a function, or None.

    The Thumb bit of a function is cleared.
    """
    if entry.tag == "DW_TAG_subprogram":
        low = entry.attributes.get("DW_AT_low_pc")
        return low.value & ~1 if low is not None and isinstance(low.value, int) else None
    place = entry.attributes.get("DW_AT_location")
    found = bytes(place.value) if place is not None and isinstance(place.value, list) else b""
    return struct.unpack("<I", found[1:])[0] if len(found) == 1 + 4 and found[0] == _OP_ADDR else None
