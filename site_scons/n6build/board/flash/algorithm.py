"""The flash algorithm of a board, for debuggers.

Its functions run in RAM and program the NOR. It is compiled from the firmware's own driver, for any place in
RAM. Debuggers expect the functions, and the sections of the ELF file, that CMSIS packs name (FLM).
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.paths import FIRMWARE
from n6build.base.regular_file import open_regular
from n6build.compile.toolchain import CPU, find_compiler
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.board_header import header_texts

SECTOR = 4096
PAGE = 4096
# Debuggers give up a page and a sector after these times, far above those of any part.
PROGRAM_MS = 1000
ERASE_MS = 6000
_FOLDER = FIRMWARE / "flash_algorithm"
_SOURCES = (
    *(f"flash_algorithm/{name}.c" for name in ("n6_flash_algorithm", "n6_flash_device")),
    "trial/n6_nor_write.c",
    *(f"bring_up/{name}.c" for name in ("n6_xspi_nor", "n6_xspi", "n6_clock", "n6_pins", "n6_cache")),
)
_FUNCTIONS = ("Init", "UnInit", "EraseSector", "ProgramPage", "Verify")
_JEDEC_ID = "n6_flash_jedec_id"
# Bytes in front of the code for the instruction that a function returns to, and behind it for its stack.
_HEAD, STACK = 0x20, 0x2000


@dataclass(frozen=True)
class FlashAlgorithm:
    """A flash algorithm, with places in RAM that is on after reset.

    Attributes:
        file: ELF file with the sections of an FLM file.
        load: Address of the first byte, an instruction that a function returns to.
        code: Bytes of the code and its variables.
        offsets: Offsets of the functions in the code, with the Thumb bit, and of the JEDEC id that Init reads.
        stack_end: Lowest address of the stack.
        stack: Highest address of the stack, and its first one.
        buffers: Addresses of two buffers of a page each.
    """

    file: Path
    load: int
    code: bytes
    offsets: dict[str, int]
    stack_end: int
    stack: int
    buffers: tuple[int, int]

    @property
    def start(self) -> int:
        """Return the address of the code."""
        return self.load + _HEAD

    @property
    def functions(self) -> dict[str, int]:
        """Return the addresses of the functions by name, with the Thumb bit."""
        return {name: self.start + self.offsets[name] for name in _FUNCTIONS}

    @property
    def jedec_id(self) -> int:
        """Return the address of the word with the part's JEDEC id, which Init writes."""
        return self.start + self.offsets[_JEDEC_ID]

    @property
    def words(self) -> list[int]:
        """Return the code in words."""
        return [int.from_bytes(self.code[i : i + 4], "little") for i in range(0, len(self.code), 4)]


def build_algorithm(board: Board, folder: Path) -> FlashAlgorithm:
    """Compile the flash algorithm of a board.

    Args:
        folder: Folder for its files.

    Raises:
        N6Error: N6-TOOL-001 without a compiler; N6-FLASH-030 if it cannot be compiled.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in header_texts(board).items():
        (folder / name).write_text(text)
    file = folder / f"{board.name}.FLM"
    compiler = find_compiler(read_environment().path)
    numbers = {
        "N6_NOR_PAGE": board.nor_commands.page,
        "N6_FLASH_PAGE": PAGE,
        "N6_FLASH_SECTOR": SECTOR,
        "N6_FLASH_PROGRAM_MS": PROGRAM_MS,
        "N6_FLASH_ERASE_MS": ERASE_MS,
    }
    command = [
        *(str(compiler), "-std=c11", *CPU, "-Os", "-Wall", "-Wextra", "-Werror"),
        *("-ffreestanding", "-ffunction-sections"),
        # It runs wherever it is loaded.
        *("-fpie", "-fvisibility=hidden"),
        *(f"-I{path}" for path in (folder, FIRMWARE / "bring_up", FIRMWARE / "trial")),
        *(f"-D{name}={value}u" for name, value in numbers.items()),
        *(f'-DN6_FLASH_NAME="n6build {board.name}"', "-nostdlib"),
        *(f"-Wl,-u,{name}" for name in _FUNCTIONS),
        *("-Wl,--gc-sections,--build-id=none,--no-warn-rwx-segments", "-Wl,-e,Init"),
        f"-T{_FOLDER / 'n6_flash_algorithm.ld'}",
        *(str(FIRMWARE / source) for source in _SOURCES),
        *("-lgcc", "-o", str(file)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = next((line for line in done.stderr.splitlines() if "error" in line), "no message")
        raise N6Error("N6-FLASH-030", f"the flash algorithm cannot be compiled: {reason}", where=compiler.name)
    code, offsets = _content(file)
    load = board.soc.boot.header_address
    stack_end = (load + _HEAD + len(code) + 0x1FF) & ~0xFF
    stack = stack_end + STACK
    return FlashAlgorithm(file, load, code, offsets, stack_end, stack, (stack, stack + PAGE))


def _content(elf: Path) -> tuple[bytes, dict[str, int]]:
    """Return the code of an ELF file, and the offsets of the functions."""
    with open_regular(elf) as stream:
        file = ELFFile(stream)
        section, symbols = file.get_section_by_name("PrgCode"), file.get_section_by_name(".symtab")
        assert section is not None
        assert isinstance(symbols, SymbolTableSection)
        found = {symbol.name: int(symbol["st_value"]) for symbol in symbols.iter_symbols()}
        return bytes(section.data()), {name: found[name] for name in (*_FUNCTIONS, _JEDEC_ID)}
