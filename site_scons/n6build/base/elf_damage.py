"""What reading somebody's ELF file may raise if the file is damaged."""

from __future__ import annotations

import struct
import zlib


def elf_damage() -> tuple[type[Exception], ...]:
    """For `except`: pyelftools checks little of what it reads."""
    from elftools.common.exceptions import DWARFError, ELFError  # noqa: PLC0415 - planning opens no ELF file.
    from elftools.construct.core import ConstructError  # noqa: PLC0415

    wrong = (ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError, RecursionError)
    return (ELFError, DWARFError, ConstructError, struct.error, zlib.error, OSError, *wrong)
