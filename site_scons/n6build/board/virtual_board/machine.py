"""Sources of the emulated machine for one chip.

They are the C files of tools/virtual_board, and files generated from the chip's description.
Properties of a board are not part of them: they are passed when the emulator starts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from n6build.base.c_format import header_text
from n6build.base.files import files_in, read_bytes
from n6build.base.paths import FIRMWARE, MACHINE_FILES
from n6build.base.templates import render
from n6build.describe.formats import boot_header, encryption, epoch_marker
from n6build.describe.hardware.blocks import blocks_of
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.npu_header import npu_header
from n6build.describe.hardware.soc import Memory, Soc
from n6build.describe.hardware.soc_header import HEADERS

_BEARSSL = FIRMWARE / "third_party" / "bearssl"
TEMPLATE = MACHINE_FILES / "n6virt_chip.h.j2"
# Memories that are no RAM: the ROM, and windows on memory outside the chip.
_NOT_RAM = re.compile(r"BOOTROM|\w+_WINDOW")


def machine_sources(soc: Soc) -> dict[str, str]:
    """Return the files for QEMU's hw/arm: file name -> text."""
    sources = {path.name: read_bytes(path).decode() for path in files_in(MACHINE_FILES, "*.[ch]")}
    sources |= {header.name: header.text(header.of(soc)) for header in HEADERS}
    sources["n6virt_chip.h"] = chip_header(soc)
    sources["n6npu_registers.h"] = npu_header(soc)
    for described in (boot_header.FORMAT, encryption.FORMAT, epoch_marker.FORMAT):
        sources[described.header] = header_text(described)
    # Only C files with this prefix are compiled.
    bearssl = {path.name if path.suffix == ".h" else f"n6virt_bearssl_{path.name}": path for path in _bearssl()}
    return sources | {name: read_bytes(path).decode() for name, path in bearssl.items()}


def _bearssl() -> list[Path]:
    """Return the files of BearSSL that verify signatures."""
    code = [path for part in ("codec", "ec", "hash", "int") for path in files_in(_BEARSSL / "src" / part, "*.c")]
    return code + [path for part in ("inc", "src") for path in files_in(_BEARSSL / part, "*.h")]


def machine_inputs(board: Board) -> tuple[Path, ...]:
    """Return the files that decide which emulator is right for the board.

    They are sources of a step that runs the emulator. Templates are left out.
    """
    return (*files_in(MACHINE_FILES, "*.[ch]"), *_bearssl(), *board.soc_files)


@dataclass(frozen=True)
class Ram:
    """A RAM as the machine models it.

    Attributes:
        name: Name of the memory.
        memory: Description of the memory.
    """

    name: str
    memory: Memory

    @property
    def enable(self) -> str:
        """Return the field of RCC MEMENR, or an empty text."""
        return (
            self.memory.power.rcc_field if self.memory.power else self.memory.clock.field if self.memory.clock else ""
        )

    @property
    def ramcfg(self) -> str:
        """Return the instance of RAMCFG, or an empty text."""
        return self.memory.power.ramcfg if self.memory.power else self.memory.clock.ramcfg if self.memory.clock else ""

    @property
    def on_after_reset(self) -> bool:
        """Return true if programs built here use the RAM without switching it on."""
        return not self.enable or bool(self.memory.clock and self.memory.clock.on_after_reset)


def chip_header(soc: Soc) -> str:
    """Return the text of n6virt_chip.h: registers, memories, ports.

    Raises:
        N6Error: N6-SOC-008, N6-SOC-009.
    """
    blocks = blocks_of(soc)
    values = {
        "soc": soc,
        "blocks": blocks,
        "enables": sorted({block.clock[0] for block in blocks if block.clock}),
        "rams": [Ram(name, memory) for name, memory in soc.memories.items() if not _NOT_RAM.fullmatch(name)],
        "ports": list(soc.peripherals["GPIO"].instances.items()),
        "timers": [block for block in blocks if block.kind == "TIM"],
        "npu_bytes": soc.peripherals["NPU"].size,
        "header_versions": boot_header.ACCEPTED_VERSIONS,
    }
    return render(TEMPLATE, values)
