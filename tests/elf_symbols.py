"""The symbols of an ELF file."""

from __future__ import annotations

from collections.abc import Iterable

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection


def symbols_of(file: ELFFile) -> Iterable[Symbol]:
    table = file.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    return table.iter_symbols()
