"""Commands and registers of a family of octal NOR parts, as described in boards/nor/<name>.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from n6build.base.errors import N6Error
from n6build.base.yaml_schema import Address, Name, Range, read_document

# opi-dtr: commands, addresses and data on eight lines, at both edges of the clock. spi: on one line.
Mode = Literal["opi-dtr", "spi"]
Opcode = Annotated[int, Range(0, 0xFF)]


@dataclass(frozen=True)
class ModeRegister:
    """The values of a part's mode register for each mode."""

    address: Address
    spi: Opcode
    opi_str: Opcode
    opi_dtr: Opcode


@dataclass(frozen=True)
class DummyRegister:
    """cycles: dummy cycles of an octal read, indexed by the register's value. chosen: the cycles that the firmware sets."""

    address: Address
    cycles: tuple[Annotated[int, Range(0, 31)], ...]
    chosen: int

    @property
    def value(self) -> int:
        """The register's value for the chosen cycles."""
        return self.cycles.index(self.chosen)


@dataclass(frozen=True)
class NorCommands:
    """Opcodes; addresses have 32 bits. second_byte: what follows the opcode in octal mode. memory_type: of XSPI DCR1.

    read, program, erase_4k, erase_64k: on one line. read_str, read_dtr: on eight lines, at one clock edge and at both.
    register_dummy_cycles: of `read_register` at both edges.
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

    @property
    def second_byte_mask(self) -> int:
        """The second byte of a command is its opcode XOR this."""
        return 0xFF if self.second_byte == "inverse" else 0

    def octal(self, opcode: int) -> int:
        """The 16 bits of a command on eight lines, with the opcode in the upper byte."""
        return opcode << 8 | (opcode ^ self.second_byte_mask)

    def erase(self, sector: int) -> int | None:
        """The opcode that erases a sector of `sector` bytes; None if there is none."""
        return {4 << 10: self.erase_4k, 64 << 10: self.erase_64k}.get(sector)


def load_nor_commands(path: Path, shown_as: str) -> NorCommands:
    """path: boards/nor/<name>.yaml. shown_as: its name in messages. Raises N6-NOR-001 if its name or its dummy cycles are
    wrong, N6-YAML-00x."""
    document = read_document(path, shown_as=shown_as)
    commands = document.load(NorCommands)
    if commands.name != path.stem:
        what = f"the commands are called '{commands.name}', their file '{path.stem}'"
        raise N6Error("N6-NOR-001", what, where=document.where("name"), hint="give both the same name")
    if commands.dummy.chosen not in commands.dummy.cycles:
        what = f"no value of the register gives {commands.dummy.chosen} dummy cycles"
        hint = f"known: {', '.join(map(str, commands.dummy.cycles))}"
        raise N6Error("N6-NOR-001", what, where=document.where("dummy", "chosen"), hint=hint)
    return commands
