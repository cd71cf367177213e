"""Registers that a program touched but no model of the virtual board answers.

They are reported, so that no access is silently stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.board.virtual_board.findings import Unmodelled
from n6build.describe.hardware.blocks import register_name
from n6build.describe.hardware.board import Board

_SHOWN = 12


@dataclass(frozen=True)
class Register:
    """A register without a model.

    Attributes:
        address: Address of the register.
        name: Name by the chip's description, such as `RNG +0x000`, or `unnamed`.
        where: Source line, symbol or address of the first access.
        reads: Number of reads.
        writes: Number of writes.
    """

    address: int
    name: str
    where: str
    reads: int
    writes: int

    def __str__(self) -> str:
        return f"0x{self.address:08X} {self.name}: {self.reads} reads, {self.writes} writes, first at {self.where}"


def registers_of(board: Board, unmodelled: Sequence[Unmodelled]) -> tuple[Register, ...]:
    """Return the registers with their names, in the same order."""
    return tuple(
        Register(each.address, register_name(board.soc, each.address), each.where, each.reads, each.writes)
        for each in unmodelled
    )


def say_registers(registers: Sequence[Register], listed_in: str) -> None:
    """Print a line for each of the first twelve registers.

    Args:
        registers: All registers.
        listed_in: File that lists all of them.
    """
    for register in registers[:_SHOWN]:
        say("Stored", str(register), "no model of it")
    if len(registers) > _SHOWN:
        say("Stored", f"and {len(registers) - _SHOWN} more registers without a model", f"all in {listed_in}")


def check_registers(board: Board, registers: Sequence[Register]) -> None:
    """Check that the program uses no registers without a model.

    Raises:
        N6Error: N6-RUN-009 for any register, if board.yaml makes it an error.
    """
    if registers and board.unmodelled_registers == "error":
        what = f"the program uses {len(registers)} registers that the virtual board only stores: {registers[0]}"
        where = f"boards/{board.name}/board.yaml: unmodelled_registers"
        raise N6Error(
            "N6-RUN-009", what, where=where, hint="remove their use, or set unmodelled_registers: warning in board.yaml"
        )
