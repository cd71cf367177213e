"""A third-party program as the checks see it: all facts that its files contain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import require_at_most
from n6build.check.rules.caches import CACHE_FUNCTIONS
from n6build.check.subject import ForeignProgram
from n6build.place.image.declarations import Declarations
from n6build.place.image.elf_reader import Symbol, allocated_sections, labels_of, symbols_of
from n6build.place.image.foreign import MAX_ELF_BYTES, Role, started_program
from n6build.place.image.linker_map import object_at, read_linker_map
from n6build.place.image.memory_regions import read_memory_regions
from n6build.place.image.mpu_tables import mpu_regions
from n6build.place.image.program_board import ProgramBoard


@dataclass(frozen=True)
class GivenProgram:
    """Files of a third-party program.

    Attributes:
        file: File that goes into flash.
        role: Role of the program.
        elf: ELF file of the same program, may be `file`; empty if there is none.
        copied_by_ours: The program is an Appli that this project's FSBL starts.
        linker_map: Map of its link; empty if no option names it.
        linker_script: Script of its link; empty if no option names it.
    """

    file: str
    role: Role
    elf: str
    copied_by_ours: bool
    linker_map: str = ""
    linker_script: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Return all files of the program that are read."""
        return tuple(dict.fromkeys(filter(None, (self.file, self.elf, self.linker_map, self.linker_script))))


def read_foreign_program(given: GivenProgram, board: ProgramBoard) -> ForeignProgram:
    """Read a third-party program for the checks.

    Raises:
        N6Error: N6-IMAGE-001, N6-FOREIGN-00x, N6-FILE-002 or N6-FILE-003 if a file cannot be read.
    """
    script = given.linker_script
    regions = read_memory_regions(Path(script), script) if script else ()
    start = started_program(Path(given.file), given.role, board, copied_by_ours=given.copied_by_ours)
    if not given.elf:
        return ForeignProgram(Path(given.file).name, given.role, start, has_elf=False, regions=regions)
    elf = Path(given.elf)
    require_at_most(elf, MAX_ELF_BYTES)
    declared = Declarations(elf)
    mapped = read_linker_map(Path(given.linker_map)) if given.linker_map else ()
    symbols = tuple(symbols_of(elf))

    def place(symbol: Symbol) -> str:
        return declared.place(symbol.name, symbol.address) or object_at(mapped, symbol.address)

    named = {symbol.name for symbol in symbols}
    return ForeignProgram(
        Path(given.file).name,
        given.role,
        start,
        sections=tuple(allocated_sections(elf)),
        symbols=symbols,
        labels=labels_of(elf),
        regions=regions,
        functions=frozenset(name for name in CACHE_FUNCTIONS if name in named or declared.place(name)),
        mpu=mpu_regions(elf, declared, symbols),
        place=place,
    )
