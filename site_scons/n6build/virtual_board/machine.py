"""The sources of the emulated machine for one chip: the C of tools/virtual_board, and what is generated from the chip's
description. What differs from board to board is not part of them: it is passed when the emulator starts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from n6build.base.c_format import header_text
from n6build.base.files import files_in, read_bytes
from n6build.base.paths import ROOT
from n6build.base.templates import render
from n6build.formats import boot_header, epoch_marker
from n6build.hardware.blocks import blocks_of
from n6build.hardware.board import Board
from n6build.hardware.soc import Memory, Soc, field_bits
from n6build.hardware.soc_header import HEADERS

MACHINE_FILES = ROOT / "tools" / "virtual_board"
TEMPLATE = MACHINE_FILES / "n6virt_chip.h.j2"
NPU_TEMPLATE = MACHINE_FILES / "n6npu_registers.h.j2"
# Not RAM: the ROM, and windows on what is outside the chip.
_NOT_RAM = re.compile(r"BOOTROM|\w+_WINDOW")


def machine_sources(soc: Soc) -> dict[str, str]:
    """File name -> text, for QEMU's hw/arm."""
    sources = {path.name: read_bytes(path).decode() for path in files_in(MACHINE_FILES, "*.[ch]")}
    sources |= {header.name: header.text(header.of(soc)) for header in HEADERS}
    sources["n6virt_chip.h"] = chip_header(soc)
    sources["n6npu_registers.h"] = npu_header(soc)
    for described in (boot_header.FORMAT, epoch_marker.FORMAT):
        sources[described.header] = header_text(described)
    return sources


def machine_inputs(board: Board) -> tuple[Path, ...]:
    """Files that decide which emulator is right for the board, apart from templates: sources of a step that runs it."""
    return (*files_in(MACHINE_FILES, "*.[ch]"), *board.soc_files)


@dataclass(frozen=True)
class Ram:
    """What the machine models of a RAM. enable: field of RCC MEMENR, or empty. ramcfg: instance of RAMCFG, or empty."""

    name: str
    memory: Memory

    @property
    def enable(self) -> str:
        """See the class."""
        return (
            self.memory.power.rcc_field if self.memory.power else self.memory.clock.field if self.memory.clock else ""
        )

    @property
    def ramcfg(self) -> str:
        """See the class."""
        return self.memory.power.ramcfg if self.memory.power else self.memory.clock.ramcfg if self.memory.clock else ""

    @property
    def on_after_reset(self) -> bool:
        """Whether it can be used without being switched on."""
        return not self.enable or bool(self.memory.clock and self.memory.clock.on_after_reset)


def chip_header(soc: Soc) -> str:
    """The text of n6virt_chip.h: registers, memories, ports. Raises N6-SOC-008, N6-SOC-009."""
    blocks = blocks_of(soc)
    values = {
        "soc": soc,
        "blocks": blocks,
        "rams": [Ram(name, memory) for name, memory in soc.memories.items() if not _NOT_RAM.fullmatch(name)],
        "ports": list(soc.peripherals["GPIO"].instances.items()),
        "timers": [block for block in blocks if block.kind == "TIM"],
        "npu_bytes": soc.peripherals["NPU"].size,
        "header_versions": boot_header.ACCEPTED_VERSIONS,
    }
    return render(TEMPLATE, values)


def npu_header(soc: Soc) -> str:
    """The text of n6npu_registers.h: registers and fields of the NPU's units, and what of them is not modelled."""
    unmodelled = [
        (kind, name, register.offset, field, _field_span(register.fields[field]))
        for kind, registers in soc.npu.registers.items()
        for name, register in registers.items()
        for field in register.unmodelled
    ]
    return render(NPU_TEMPLATE, {"soc": soc, "unmodelled": unmodelled, "field_span": _field_span})


def _field_span(bits: int | tuple[int, ...]) -> tuple[int, int]:
    """Lowest bit, and how many."""
    low, mask = field_bits(bits)
    return low, (mask >> low).bit_length()
