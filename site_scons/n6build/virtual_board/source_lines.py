"""Program counter -> source line, from the debug information of the programs that are in flash."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from n6build.base.files import read_bytes


@dataclass(frozen=True)
class SourceLine:
    """file: as it was passed to the compiler. function: empty if unknown."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f" in {self.function}()" if self.function else "")


def find_line(pc: int, programs: Sequence[Path]) -> SourceLine | None:
    """The line for an address. The programs' addresses do not overlap, so the first program that knows it is right."""
    for program in programs:
        elf = ELFFile(io.BytesIO(read_bytes(program)))
        if not elf.has_dwarf_info():
            continue
        line = _line_in(elf.get_dwarf_info(), pc)
        if line:
            return SourceLine(*line, _function_in(elf, pc))
    return None


def _line_in(dwarf: DWARFInfo, pc: int) -> tuple[str, int] | None:
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        before = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if before and not before.end_sequence and before.address <= pc < state.address:
                name = program.header.file_entry[before.file - (1 if program.header.version < 5 else 0)].name
                return _path_of(program, before.file, name), before.line
            before = state
    return None


def _path_of(program: object, index: int, name: bytes) -> str:
    header = program.header  # type: ignore[attr-defined]
    entry = header.file_entry[index - (1 if header.version < 5 else 0)]
    directory = entry.dir_index - (1 if header.version < 5 else 0)
    if directory < 0 or directory >= len(header.include_directory):
        return name.decode()
    folder = header.include_directory[directory].decode()
    return f"{folder}/{name.decode()}" if folder not in ("", ".") else name.decode()


def _function_in(elf: ELFFile, pc: int) -> str:
    symbols = elf.get_section_by_name(".symtab")
    if not isinstance(symbols, SymbolTableSection):
        return ""
    for symbol in symbols.iter_symbols():
        start = symbol["st_value"] & ~1
        if symbol["st_info"]["type"] == "STT_FUNC" and start <= pc < start + symbol["st_size"]:
            return str(symbol.name)
    return ""
