"""Commands and registers of a family of octal NOR parts.

The source is boards/nor/<name>.yaml.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from n6build.base.errors import N6Error
from n6build.base.yaml_schema import Address, Name, Range, read_document

# opi-dtr: commands, addresses and data on eight lines, at both edges of the clock. spi: on one line.
Mode = Literal["opi-dtr", "spi"]
Opcode = Annotated[int, Range(0, 0xFF)]
Word = Annotated[int, Range(0, 0xFFFF_FFFF)]
Rate = Annotated[int, Range(1_000_000, 400_000_000)]
Microseconds = Annotated[int, Range(1, 60_000_000)]


# Words of the basic table of JESD216F, and the most that n6build takes of another table.
BASIC_WORDS = 20
MAX_TABLE_WORDS = 64
# The limit of the interface at 1.8 V.
_FASTEST_HZ = 200_000_000


@dataclass(frozen=True)
class ModeRegister:
    """The mode register of a part.

    Attributes:
        address: address of the register.
        spi: value for single-line mode.
        opi_str: value for octal mode at one clock edge.
        opi_dtr: value for octal mode at both clock edges.
        former_us: microseconds in which a part that leaves single-line mode still reports its
            status in that mode.
    """

    address: Address
    spi: Opcode
    opi_str: Opcode
    opi_dtr: Opcode
    former_us: Annotated[int, Range(0, 1000)] = 0


@dataclass(frozen=True)
class DummyRegister:
    """The register with the dummy cycles of octal reads.

    Attributes:
        address: address of the register.
        cycles: dummy cycles of an octal read, indexed by the register's value.
        chosen: dummy cycles that the firmware sets.
        max_hz: highest clock for each value; the limit of the interface for values without an entry.
    """

    address: Address
    cycles: tuple[Annotated[int, Range(0, 31)], ...]
    chosen: int
    max_hz: tuple[Rate, ...] = ()

    @property
    def value(self) -> int:
        """The register's value for the chosen cycles."""
        return self.cycles.index(self.chosen)


@dataclass(frozen=True)
class BusyTimes:
    """Typical times of programming and erasing, in microseconds.

    Attributes:
        program: time for a page.
        erase_4k: time for a sector of 4 KiB.
        erase_64k: time for a sector of 64 KiB.
        erase_mib: time of a chip erase, for each MiB.
    """

    program: Microseconds = 150
    erase_4k: Microseconds = 25_000
    erase_64k: Microseconds = 250_000
    erase_mib: Microseconds = 1_500_000


@dataclass(frozen=True)
class MaxFactors:
    """Longest time divided by typical time: an even number from 2 to 32.

    Attributes:
        erase: factor for erasing.
        program: factor for programming.
    """

    erase: Annotated[int, Range(2, 32)]
    program: Annotated[int, Range(2, 32)]


@dataclass(frozen=True)
class ParameterTables:
    """Contents of the JESD216 tables beyond the commands and the size.

    `n6build.board.virtual_board.board_values` builds the complete tables.

    Attributes:
        basic_from_12: the last nine words of the basic table.
        registers: the map of status and control registers.
        to_octal: commands that switch to octal mode, at most seven bytes each.
        profile, four_byte: words without the opcodes that other fields give.
    """

    max_factors: MaxFactors
    basic_from_12: tuple[Word, ...]
    registers: tuple[Word, ...]
    to_octal: tuple[tuple[Opcode, ...], ...]
    profile: tuple[Word, Word]
    four_byte: Word


@dataclass(frozen=True)
class NorCommands:
    """Commands of a NOR family: opcodes of 8 bits, addresses of 32 bits.

    Attributes:
        name: name of the file.
        second_byte: byte that follows the opcode in octal mode.
        memory_type: value for XSPI DCR1.
        read, program, erase_4k, erase_64k: opcodes on one line.
        read_str, read_dtr: opcodes of octal reads at one clock edge and at both.
        write_register, read_register: opcodes for the mode register and the dummy register.
        register_dummy_cycles: dummy cycles of `read_register` at both clock edges.
        mode: register that changes the mode.
        dummy: register with the dummy cycles.
        page: bytes that one program command covers.
        configuration: value of the register that command 0x15 reads.
        reset_us: microseconds until an idle part takes a command after a reset.
        read_max_hz: highest clock on one line, without dummy cycles.
        spi_max_hz: highest clock of all other commands on one line.
        sfdp: parameter tables; None if the part has none.
    """

    name: Name
    second_byte: Literal["inverse", "same"]
    memory_type: Annotated[int, Range(0, 7)]
    read: Opcode
    read_str: Opcode
    read_dtr: Opcode
    program: Opcode
    erase_4k: Opcode
    erase_64k: Opcode
    write_register: Opcode
    read_register: Opcode
    register_dummy_cycles: Annotated[int, Range(0, 31)]
    mode: ModeRegister
    dummy: DummyRegister
    page: Annotated[int, Range(1, 1024)] = 256
    configuration: Opcode = 0
    busy_us: BusyTimes = field(default_factory=BusyTimes)
    reset_us: Annotated[int, Range(0, 1_000_000)] = 0
    read_max_hz: Rate = 50_000_000
    spi_max_hz: Rate = 133_000_000
    sfdp: ParameterTables | None = None

    def max_hz(self) -> tuple[int, ...]:
        """Return the highest clock of an octal read for each value of the dummy register."""
        told = self.dummy.max_hz[: len(self.dummy.cycles)]
        return (*told, *[_FASTEST_HZ] * (len(self.dummy.cycles) - len(told)))

    @property
    def second_byte_mask(self) -> int:
        """The mask whose XOR with an opcode gives the second byte of a command."""
        return 0xFF if self.second_byte == "inverse" else 0

    def octal(self, opcode: int) -> int:
        """Return the 16 bits of a command on eight lines, opcode in the upper byte."""
        return opcode << 8 | (opcode ^ self.second_byte_mask)

    def erase(self, sector: int) -> int | None:
        """Return the opcode that erases a sector of `sector` bytes; None if there is none."""
        return {4 << 10: self.erase_4k, 64 << 10: self.erase_64k}.get(sector)


def load_nor_commands(path: Path, shown_as: str) -> NorCommands:
    """Read the commands of a NOR family.

    Args:
        path: boards/nor/<name>.yaml.
        shown_as: name of the file in messages.

    Raises:
        N6Error: N6-NOR-001 if the name or the dummy cycles are wrong; N6-NOR-002 if the page or the
            parameter tables are wrong; N6-YAML-00x.
    """
    document = read_document(path, shown_as=shown_as)
    commands = document.load(NorCommands)
    if commands.name != path.stem:
        what = f"the name of the commands is '{commands.name}', but their file is '{path.stem}'"
        raise N6Error("N6-NOR-001", what, where=document.where("name"), hint="use the same name for both")
    if commands.dummy.chosen not in commands.dummy.cycles:
        what = f"no value of the register gives {commands.dummy.chosen} dummy cycles"
        hint = f"use one of: {', '.join(map(str, commands.dummy.cycles))}"
        raise N6Error("N6-NOR-001", what, where=document.where("dummy", "chosen"), hint=hint)
    if commands.page & (commands.page - 1):
        hint = "write a power of two, for example 256"
        raise N6Error("N6-NOR-002", f"a page of {commands.page} bytes", where=document.where("page"), hint=hint)
    if commands.sfdp and (wrong := _wrong_tables(commands.sfdp)):
        hint = "write the words that the part returns to command 0x5A"
        raise N6Error("N6-NOR-002", wrong, where=document.where("sfdp"), hint=hint)
    return commands


def _wrong_tables(tables: ParameterTables) -> str | None:
    if len(tables.basic_from_12) != BASIC_WORDS - 11:
        return f"basic_from_12 has {len(tables.basic_from_12)} words, not {BASIC_WORDS - 11}"
    if len(tables.registers) > MAX_TABLE_WORDS or len(tables.to_octal) > MAX_TABLE_WORDS // 2:
        return f"a table has more than {MAX_TABLE_WORDS} words"
    longest = max(map(len, tables.to_octal), default=0)
    return f"a command of to_octal has {longest} bytes, more than 7" if longest > 7 else None
