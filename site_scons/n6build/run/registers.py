"""Registers that a program touched and that no model of the virtual board answers: nothing is silently stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.hardware.blocks import register_name
from n6build.hardware.board import Board
from n6build.virtual_board.findings import Unmodelled

_SHOWN = 12


@dataclass(frozen=True)
class Register:
    """address: of the register. name: by the chip's description, such as `RNG +0x000`, or `unnamed`. where: of the first
    access, a source line, a symbol or an address. reads, writes: how often."""

    address: int
    name: str
    where: str
    reads: int
    writes: int

    def __str__(self) -> str:
        return f"0x{self.address:08X} {self.name}: {self.reads} reads, {self.writes} writes, first at {self.where}"


def registers_of(board: Board, unmodelled: Sequence[Unmodelled]) -> tuple[Register, ...]:
    """With their names, in the same order."""
    return tuple(
        Register(each.address, register_name(board.soc, each.address), each.where, each.reads, each.writes)
        for each in unmodelled
    )


def say_registers(registers: Sequence[Register], listed_in: str) -> None:
    """A line for each of the first dozen. listed_in: file that has them all."""
    for register in registers[:_SHOWN]:
        say("Stored", str(register), "no model answers it")
    if len(registers) > _SHOWN:
        say("Stored", f"and {len(registers) - _SHOWN} more registers that no model answers", f"all in {listed_in}")


def check_registers(board: Board, registers: Sequence[Register]) -> None:
    """Raises N6-RUN-009 for any, where board.yaml says that it is an error."""
    if registers and board.unmodelled_registers == "error":
        what = f"the program uses {len(registers)} registers that the virtual board only stores: {registers[0]}"
        where = f"boards/{board.name}/board.yaml: unmodelled_registers"
        raise N6Error("N6-RUN-009", what, where=where, hint="omit their use, or unmodelled_registers: warning")
