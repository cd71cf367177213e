"""The linked model, network_rel.elf: its bytes and the places of link addresses.

The file was linked with --emit-relocs, so that it lists every relocation that the linker applied. A
loader can only rebase a word of RAM that holds an address. Calls and jumps inside the code need no
change, because the code moves as one; the GOT is a separate table. n6build refuses all other
relocations, with the name of the object that they come from.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_RELOC_TYPE_ARM
from elftools.elf.relocation import RelocationSection

from n6build.base.elf_damage import content_of, open_elf, sound_elf
from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_text
from n6build.place.reloc.model_format import (
    FIXED_HEADER_BYTES,
    HEADER_FIELDS,
    MAGIC,
    OFFSET_MASK,
    WORD,
    Segment,
    offset,
    segment,
)

_ALLOCATED = 0x2
_NAMES = {number: name for name, number in ENUM_RELOC_TYPE_ARM.items()}
# The linker resolves these distances inside the code.
_DISTANCES = {
    "R_ARM_NONE",
    "R_ARM_V4BX",
    "R_ARM_CALL",
    "R_ARM_JUMP24",
    "R_ARM_THM_CALL",
    "R_ARM_THM_JUMP24",
    "R_ARM_THM_JUMP19",
    "R_ARM_THM_JUMP11",
    "R_ARM_THM_JUMP8",
    "R_ARM_THM_JUMP6",
}
# These distances stay right only if both ends move together.
_RELATIVE = {
    "R_ARM_REL32",
    "R_ARM_GOT_PREL",
    "R_ARM_PREL31",
    "R_ARM_THM_PC12",
    "R_ARM_THM_PC8",
    "R_ARM_THM_ALU_PREL_11_0",
}
_GOT_OFFSET = "R_ARM_GOT_BREL"
_ADDRESS = "R_ARM_ABS32"
_LOADABLE = {Segment.FLASH, Segment.RAM, Segment.PARAM_0, Segment.PARAM_1}


@dataclass(frozen=True)
class LinkedModel:
    """A linked model.

    Attributes:
        read_only: header, code and constants.
        data: image of RAM up to .bss.
        relocations: link addresses of words in `data`.
        header: words of the header by the names of layout.HEADER_FIELDS.
        blobs: blobs of the epoch controller that go in front of the weights.
    """

    read_only: bytes
    data: bytes
    relocations: tuple[int, ...]
    header: dict[str, int]
    blobs: bytes = b""


def read_linked_model(path: Path, map_file: Path | None = None) -> LinkedModel:
    """Read a linked model.

    Args:
        path: the ELF file.
        map_file: map file of the linker; with it errors name the object.

    Raises:
        N6Error: N6-RELOC-010 if the file is not a linked model; N6-RELOC-011 for an undefined
            symbol; N6-RELOC-012 and N6-RELOC-013 for relocations that a loader cannot carry out.
    """
    with sound_elf("N6-RELOC-010", path, "is not a linked model"):
        return _read(open_elf(path), path, _Places.read(map_file))


def _read(elf: ELFFile, path: Path, places: _Places) -> LinkedModel:
    sections: dict[str, Any] = {name: elf.get_section_by_name(name) for name in (".flash", ".data")}
    if not all(sections.values()):
        missing = ", ".join(name for name, section in sections.items() if not section)
        raise N6Error("N6-RELOC-010", f"is not a linked model: it has no section {missing}", where=path.name)
    read_only, data = content_of(sections[".flash"]), content_of(sections[".data"])
    if len(read_only) < FIXED_HEADER_BYTES:
        raise N6Error("N6-RELOC-010", "is not a linked model: its header is cut off", where=path.name)
    words = struct.unpack_from(f"<{len(HEADER_FIELDS)}I", read_only)
    header = dict(zip(HEADER_FIELDS, words, strict=True))
    if header["magic"] != MAGIC or offset(header["bss_start"]) != len(data):
        raise N6Error("N6-RELOC-010", "is not a linked model: its header does not match its sections", where=path.name)
    relocations = sorted(set(_words_to_relocate(elf, sections, places)))
    blobs = elf.get_section_by_name(".params")
    model = LinkedModel(read_only, data, tuple(relocations), header, content_of(blobs) if blobs else b"")
    _check_words(model, places)
    return model


def _words_to_relocate(elf: ELFFile, sections: dict[str, Any], places: _Places) -> Iterator[int]:
    flash, ram = sections[".flash"], sections[".data"]
    for section in elf.iter_sections():
        if not isinstance(section, RelocationSection):
            continue
        target = elf.get_section(section["sh_info"])
        if not target["sh_flags"] & _ALLOCATED:
            continue
        symbols: Any = elf.get_section(section["sh_link"])
        for relocation in section.iter_relocations():
            symbol = symbols.get_symbol(relocation["r_info_sym"])
            kind = _NAMES.get(relocation["r_info_type"], f"type {relocation['r_info_type']}")
            at = _Use(relocation["r_offset"], kind, _name(elf, symbol), target.name)
            _check_defined(symbol, at, places)
            if kind == _ADDRESS:
                if ram["sh_addr"] <= at.address < ram["sh_addr"] + ram["sh_size"]:
                    yield at.address
                elif not _is_entry_point(at.address, flash):
                    raise _not_loadable(at, places, "puts an address into code or constants")
            elif kind in _RELATIVE:
                if segment(symbol["st_value"]) != segment(at.address):
                    raise _not_loadable(at, places, "is a distance between segments that move independently")
            elif kind not in _DISTANCES and kind != _GOT_OFFSET:
                raise _not_loadable(at, places, "is unsupported by the loader")


@dataclass(frozen=True)
class _Use:
    """A relocation: its link address, kind, symbol, and section of the linked file."""

    address: int
    kind: str
    symbol: str
    section: str


def _name(elf: ELFFile, symbol: Any) -> str:
    if symbol.name:
        return str(symbol.name)
    index = symbol["st_shndx"]
    return str(elf.get_section(index).name) if isinstance(index, int) else "no symbol"


def _is_entry_point(address: int, flash: Any) -> bool:
    """Return whether an address is that of an entry point in the header.

    The loader reads the entry points from the file and adds the base itself. They are between the
    fixed words of the header and the context's address.
    """
    words = struct.unpack_from(f"<{min(flash['sh_size'] // WORD, 64)}I", content_of(flash))
    first = len(HEADER_FIELDS)
    context = next((index for index in range(first, len(words)) if segment(words[index]) == Segment.RAM), first)
    return bool(flash["sh_addr"] + first * WORD <= address <= flash["sh_addr"] + context * WORD)


def _check_defined(symbol: Any, at: _Use, places: _Places) -> None:
    if symbol["st_shndx"] == "SHN_UNDEF" and at.kind != "R_ARM_NONE":
        raise N6Error(
            "N6-RELOC-011",
            f"symbol {at.symbol} is not defined ({at.kind} in {at.section} at 0x{at.address:08X})",
            where=places.object_at(at.address),
            hint="link its definition into the model: symbols of the firmware are not visible there",
        )


def _not_loadable(at: _Use, places: _Places, why: str) -> N6Error:
    return N6Error(
        "N6-RELOC-012",
        f"{at.kind} of symbol {at.symbol} in {at.section} at 0x{at.address:08X} {why}",
        where=places.object_at(at.address),
        hint="compile that object position-independent, with r9 as static base; do not use objects of the C library",
    )


def _check_words(model: LinkedModel, places: _Places) -> None:
    """Check that every word that a loader rebases is inside a segment (N6-RELOC-013)."""
    got = range(model.header["got_start"], model.header["got_end"], WORD)
    limits = {Segment.FLASH: len(model.read_only), Segment.RAM: offset(model.header["bss_end"])}
    # The addresses are not collected, because a damaged header may name 4 GB of them.
    for address in chain(model.relocations, got):
        (word,) = struct.unpack_from("<I", model.data, offset(address))
        if word == 0:
            continue
        known = segment(word) in _LOADABLE
        if not known or word & OFFSET_MASK > limits.get(Segment(segment(word)), OFFSET_MASK):
            raise N6Error(
                "N6-RELOC-013",
                f"the word at 0x{address:08X} is 0x{word:08X}, which is in no segment of the model",
                where=places.object_at(address),
                hint="take the address from a memory pool: the code has an absolute address in a pointer",
            )


class _Places:
    """The object file of each link address, from the linker's map file."""

    _CONTRIBUTION = re.compile(r"^ (\.\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S[^\n]*)$", re.MULTILINE)

    def __init__(self, contributions: Sequence[tuple[int, int, str]]) -> None:
        self._contributions = sorted(contributions)

    @classmethod
    def read(cls, map_file: Path | None) -> _Places:
        if map_file is None or not is_file(map_file):
            return cls([])
        text = read_text(map_file)
        found = cls._CONTRIBUTION.findall(text)
        return cls([(int(start, 16), int(size, 16), name) for _, start, size, name in found if int(size, 16)])

    def object_at(self, address: int) -> str | None:
        index = bisect_right(self._contributions, (address, 1 << 62, "")) - 1
        if index < 0:
            return None
        start, size, name = self._contributions[index]
        return Path(name).name if start <= address < start + size else None
