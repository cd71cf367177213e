"""Reading of ELF files from outside, in spite of damage.

All such files are read through this module: pyelftools checks little of a file, and trusts every
count and size.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.errors import N6Error
from n6build.base.files import read_bytes

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import Section, Symbol

# A linked program has some dozens of sections.
_MOST_SECTIONS = 10_000
# Largest size in bytes of a section, and of all that a program is loaded with; no STM32N6 has so much memory.
MOST_CONTENT = 256 << 20
_SYMBOL_BYTES = 16


def elf_damage() -> tuple[type[Exception], ...]:
    """Return the errors that reading a damaged file may raise, for `except`."""
    from elftools.common.exceptions import DWARFError, ELFError  # noqa: PLC0415 - planning opens no ELF file.
    from elftools.construct.core import ConstructError  # noqa: PLC0415

    wrong = (ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError, RecursionError)
    more = (NotImplementedError, MemoryError, OSError)
    return (ELFError, DWARFError, ConstructError, struct.error, zlib.error, *wrong, *more)


@contextmanager
def sound_elf(id: str, path: Path, what: str = "is not a valid ELF file") -> Iterator[None]:
    """Raise an N6Error if the block finds damage in an ELF file.

    Args:
        id: Id of the error.
        path: The file, for the message.
        what: Beginning of the message.

    Raises:
        N6Error: `id` in place of an error of `elf_damage`.
    """
    try:
        yield
    except elf_damage() as error:
        raise N6Error(id, f"{what}: {error}", where=path.name) from error


def open_elf(path: Path) -> ELFFile:
    """Open an ELF file.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read.
        Exception: One of `elf_damage` if the file is damaged.
    """
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - planning opens no ELF file.

    elf = ELFFile(io.BytesIO(read_bytes(path)))
    for what, count in (("sections", elf.num_sections()), ("segments", elf.num_segments())):
        if count > _MOST_SECTIONS:
            raise ValueError(f"{count} {what}")
    return elf


def content_of(section: Section) -> bytes:
    """Return the content of a section.

    Raises:
        Exception: One of `elf_damage` if the file is damaged.
    """
    if section.data_size > MOST_CONTENT:
        raise ValueError(f"section {section.name} has {section.data_size} bytes")
    return bytes(section.data())


def symbols_in(elf: ELFFile) -> Iterator[Symbol]:
    """Yield the symbols of an ELF file; none if it has no symbol table.

    Raises:
        Exception: One of `elf_damage` if the file is damaged.
    """
    from elftools.elf.sections import SymbolTableSection  # noqa: PLC0415 - planning opens no ELF file.

    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return
    if table["sh_entsize"] != _SYMBOL_BYTES:
        raise ValueError(f"symbols of {table['sh_entsize']} bytes")
    yield from table.iter_symbols()
