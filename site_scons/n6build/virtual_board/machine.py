"""The sources of the emulated machine for one chip: the C of tools/virtual_board, and what is generated from the chip's
description. What differs from board to board is not part of them: it is passed when the emulator starts."""

from __future__ import annotations

from pathlib import Path

from n6build.base.c_format import header_text
from n6build.base.files import files_in, read_bytes
from n6build.base.paths import ROOT
from n6build.base.templates import render
from n6build.formats import boot_header
from n6build.hardware.board import Board
from n6build.hardware.soc import Memory, Soc
from n6build.hardware.soc_header import soc_header

MACHINE_FILES = ROOT / "tools" / "virtual_board"
TEMPLATE = MACHINE_FILES / "n6virt_chip.h.j2"
# Memories that are modelled besides those that have to be switched on; the machine has no others.
_RAMS = ("ITCM", "DTCM", "FLEXRAM", "AXISRAM1", "AXISRAM2", "AHBSRAM1", "AHBSRAM2")


def machine_sources(soc: Soc) -> dict[str, str]:
    """File name -> text, for QEMU's hw/arm."""
    sources = {path.name: read_bytes(path).decode() for path in files_in(MACHINE_FILES, "*.[ch]")}
    sources["n6_soc.h"] = soc_header(soc)
    sources["n6virt_chip.h"] = chip_header(soc)
    sources[boot_header.FORMAT.header] = header_text(boot_header.FORMAT)
    return sources


def machine_inputs(board: Board) -> tuple[Path, ...]:
    """Files that decide which emulator is right for the board, apart from templates: sources of a step that runs it."""
    return (*files_in(MACHINE_FILES, "*.[ch]"), *board.soc_files)


def chip_header(soc: Soc) -> str:
    """The text of n6virt_chip.h: memories, banks and ports."""
    banks = [(name, memory) for name, memory in soc.memories.items() if memory.power]
    rams = [(name, soc.memories[name]) for name in _RAMS if name in soc.memories]
    ports = list(soc.peripherals["GPIO"].instances.items())
    return render(TEMPLATE, {"soc": soc, "rams": rams, "banks": sorted(banks, key=_base), "ports": ports})


def _base(named: tuple[str, Memory]) -> int:
    return named[1].base
