"""Source lines and symbols of addresses, from the ELF files in flash.

It also finds the addresses of symbols.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elftools.dwarf.aranges import ARanges
from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.elf.elffile import ELFFile

from n6build.base.elf_damage import elf_damage, open_elf, symbols_in

# sh_flags, SHF_EXECINSTR.
_EXECUTABLE = 4
# Reading line tables takes a second for each megabyte. Without an index of addresses, larger ones are left out.
_MOST_LINE_BYTES = 4 << 20


@dataclass(frozen=True)
class SourceLine:
    """A place in the source.

    Attributes:
        file: Path as it was passed to the compiler.
        line: Line number.
        function: Name of the function, empty if unknown.
    """

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f" in {self.function}()" if self.function else "")


@dataclass(frozen=True)
class _Function:
    start: int
    size: int
    name: str


class Places:
    """Names of addresses in programs.

    The addresses of the programs do not overlap, so that the first program that knows an address is
    right. A file that is damaged, or has no symbols, knows none.
    """

    def __init__(self, programs: Sequence[Path]) -> None:
        self._programs = [_Program(path) for path in programs]
        self._known: dict[int, str] = {}

    def of(self, pc: int) -> str:
        """Return a source line, a function with an offset, or the address itself."""
        if not pc:
            return f"0x{pc:08x}"
        if pc not in self._known:
            line = self.line(pc)
            function = next((found for program in self._programs if (found := program.function(pc))), None)
            symbol = f"{function.name}+0x{pc - function.start:x} (0x{pc:08x})" if function else f"0x{pc:08x}"
            self._known[pc] = str(line) if line else symbol
        return self._known[pc]

    def line(self, pc: int) -> SourceLine | None:
        """Return the source line of an address, None without debug information."""
        for program in self._programs:
            if found := program.line(pc):
                function = program.function(pc)
                return SourceLine(*found, function.name if function else "")
        return None

    def function_at(self, pc: int) -> str:
        """Return the name of the function at an address, empty if unknown."""
        return next((found.name for program in self._programs if (found := program.function(pc))), "")

    def variable_at(self, address: int) -> str:
        """Return the name of the variable at an address, empty if unknown."""
        for program in self._programs:
            if found := program.variable(address):
                offset = address - found.start
                return f"{found.name}+0x{offset:x}" if offset else found.name
        return ""

    def parameters(self, pc: int) -> tuple[str, ...]:
        """Return the names of a function's parameters, by its address; empty if unknown."""
        return next((found for program in self._programs if (found := program.parameters(pc))), ())


def symbols_of(program: Path) -> dict[str, int]:
    """Return the addresses of functions and labels, with the Thumb bit cleared.

    The first of two symbols with the same name counts. A damaged file has none.
    """
    found: dict[str, int] = {}
    try:
        for symbol in symbols_in(open_elf(program)):
            if symbol["st_info"]["type"] in ("STT_FUNC", "STT_NOTYPE") and symbol["st_shndx"] != "SHN_UNDEF":
                found.setdefault(str(symbol.name), symbol["st_value"] & ~1)
    except elf_damage():
        return {}
    return found


class _Program:
    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _elf(self) -> ELFFile | None:
        try:
            elf: ELFFile = open_elf(self._path)
        except elf_damage():
            return None
        return elf

    @cached_property
    def _functions(self) -> list[_Function]:
        return self._symbols("STT_FUNC", ~1)

    @cached_property
    def _variables(self) -> list[_Function]:
        return self._symbols("STT_OBJECT", ~0)

    def _symbols(self, kind: str, mask: int) -> list[_Function]:
        if self._elf is None:
            return []
        try:
            found = [
                _Function(symbol["st_value"] & mask, symbol["st_size"], str(symbol.name))
                for symbol in symbols_in(self._elf)
                if symbol["st_info"]["type"] == kind and symbol["st_size"]
            ]
        except elf_damage():
            return []
        return sorted(found, key=lambda each: each.start)

    @cached_property
    def _starts(self) -> list[int]:
        return [function.start for function in self._functions]

    @cached_property
    def _code(self) -> list[tuple[int, int]]:
        """Return the address ranges of sections with instructions."""
        if self._elf is None:
            return []
        try:
            return [
                (section["sh_addr"], section["sh_addr"] + section["sh_size"])
                for section in self._elf.iter_sections()
                if section["sh_flags"] & _EXECUTABLE
            ]
        except elf_damage():
            return []

    @cached_property
    def _dwarf(self) -> DWARFInfo | None:
        if self._elf is None:
            return None
        try:
            return self._elf.get_dwarf_info() if self._elf.has_dwarf_info() else None
        except elf_damage():
            return None

    @cached_property
    def _units(self) -> list[CompileUnit]:
        """Return all units; none if their line tables are too large to be searched."""
        try:
            if self._dwarf is None or self._elf is None:
                return []
            lines = self._elf.get_section_by_name(".debug_line")
            if lines is None or lines.data_size > _MOST_LINE_BYTES:
                return []
            return list(self._dwarf.iter_CUs())
        except elf_damage():
            return []

    @cached_property
    def _index(self) -> ARanges | None:
        try:
            return self._dwarf.get_aranges() if self._dwarf else None
        except elf_damage():
            return None

    def _units_of(self, pc: int) -> list[CompileUnit]:
        """Return the units that may have an address.

        The index of the file tells them, if there is one.
        """
        if self._dwarf is None:
            return []
        try:
            offset = self._index.cu_offset_at_addr(pc) if self._index else None
            if offset is not None:
                return [self._dwarf.get_CU_at(offset)]
        except elf_damage():
            pass
        return self._units

    def variable(self, address: int) -> _Function | None:
        place = bisect.bisect_right(self._variable_starts, address)
        found = self._variables[place - 1] if place else None
        return found if found and address < found.start + found.size else None

    @cached_property
    def _variable_starts(self) -> list[int]:
        return [variable.start for variable in self._variables]

    def parameters(self, pc: int) -> tuple[str, ...]:
        for unit in self._units_of(pc):
            try:
                for entry in unit.get_top_DIE().iter_children():
                    if entry.tag == "DW_TAG_subprogram" and _low_pc(entry) == pc:
                        return tuple(filter(None, (_name(each) for each in entry.iter_children())))
            except elf_damage():
                continue
        return ()

    def function(self, pc: int) -> _Function | None:
        place = bisect.bisect_right(self._starts, pc)
        found = self._functions[place - 1] if place else None
        return found if found and pc < found.start + found.size else None

    def line(self, pc: int) -> tuple[str, int] | None:
        # Reading every line table takes a second for each megabyte.
        if not any(start <= pc < end for start, end in self._code):
            return None
        for unit in self._units_of(pc):
            try:
                if self._dwarf and (found := _line_in(self._dwarf, unit, pc)):
                    return found
            except elf_damage():
                continue
        return None


def _low_pc(entry: DIE) -> int | None:
    low = entry.attributes.get("DW_AT_low_pc")
    return low.value & ~1 if low else None


def _name(entry: DIE) -> str:
    """Return the name of a parameter, empty for other entries."""
    name = entry.attributes.get("DW_AT_name")
    return name.value.decode(errors="replace") if entry.tag == "DW_TAG_formal_parameter" and name else ""


def _line_in(dwarf: DWARFInfo, unit: CompileUnit, pc: int) -> tuple[str, int] | None:
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return None
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
