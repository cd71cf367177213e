"""The chip's blocks of registers by address, and the names of their registers."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.describe.hardware.soc import CLEAR_ALIAS, SET_ALIAS, ClockGate, Peripheral, Soc

# GDB reads a file of commands by this name.
FILE = "registers.gdb"


def gdb_registers(soc: Soc) -> str:
    """Return GDB commands that make each register a pointer, for example `$XSPI2_CR`.

    GDB sets variables without a board, and reads memory only where a command names it.
    """
    lines = [f"# Registers of the {soc.name} by name: p/x *$SCB_CFSR, or set var *$RCC_CR = 8"]
    for kind, peripheral in soc.peripherals.items():
        instances = peripheral.instances if peripheral.base is None else {kind: peripheral.base}
        lines += [
            f"set ${block}_{name} = (unsigned int *) 0x{base + register.offset:08X}"
            for block, base in instances.items()
            for name, register in peripheral.registers.items()
        ]
    return "\n".join(lines) + "\n"


# Registers from this address on belong to the processor (Armv8-M manual, system address map).
_PROCESSOR = 0xE0000000
# These registers of RCC give peripherals their clocks.
_ENABLE = re.compile(r"A[HP]B\dENR\d?")
# These registers of RIFSC make peripherals secure.
_SECURE = re.compile(r"SECCFGR\d")


@dataclass(frozen=True)
class Block:
    """A peripheral, or an instance of one.

    Attributes:
        kind: name of the peripheral.
        clock: register and field of RCC; None if the clock is always on.
        secured: register and field of RIFSC that make it secure; None if RIFSC has none.
        resets: values after reset that are not 0, by offset.
    """

    name: str
    kind: str
    base: int
    size: int
    clock: tuple[str, str] | None
    secured: tuple[str, str] | None
    resets: tuple[tuple[int, int], ...]

    @property
    def end(self) -> int:
        """The first address behind the block."""
        return self.base + self.size


def blocks_of(soc: Soc) -> tuple[Block, ...]:
    """Return all blocks of the chip except the processor's own, by address.

    Raises:
        N6Error: N6-SOC-008 for two blocks that overlap; N6-SOC-009 for a clock that RCC does not have.
    """
    found = [
        Block(
            name,
            kind,
            base,
            peripheral.size,
            _clock_bit(soc, name, peripheral.clock),
            _security_bit(soc, peripheral.rif or name),
            tuple((each.offset, each.reset) for each in peripheral.registers.values() if each.reset),
        )
        for kind, peripheral in soc.peripherals.items()
        for name, base in _instances(kind, peripheral).items()
        if base < _PROCESSOR
    ]
    found.sort(key=_base)
    for block, following in itertools.pairwise(found):
        if block.end > following.base:
            what = f"{block.name} overlaps {following.name} by {block.end - following.base} bytes"
            raise N6Error("N6-SOC-008", what, where=_where(soc), hint="correct `base` or `size` of one of them")
    return tuple(found)


def register_name(soc: Soc, address: int) -> str:
    """Return the name of the register at an address.

    Examples: `RCC AHB5ENR`; `RNG +0x000` if the chip's description does not name the register;
    `unnamed` outside all blocks.
    """
    for block in blocks_of(soc):
        if block.base <= address < block.end:
            offset = address - block.base
            for name, register in soc.peripherals[block.kind].registers.items():
                aliases = (0, SET_ALIAS, CLEAR_ALIAS) if register.set_clear else (0,)
                if offset - register.offset in aliases:
                    return f"{block.name} {name}"
            return f"{block.name} +0x{offset:03X}"
    return "unnamed"


def _instances(kind: str, peripheral: Peripheral) -> dict[str, int]:
    return peripheral.instances if peripheral.base is None else {kind: peripheral.base}


def _base(block: Block) -> int:
    return block.base


def _where(soc: Soc) -> str:
    return str(Path("boards") / "soc" / f"{soc.name}.yaml")


def _security_bit(soc: Soc, field: str) -> tuple[str, str] | None:
    registers = soc.peripherals["RIFSC"].registers
    return next(
        ((name, field) for name, each in registers.items() if _SECURE.fullmatch(name) and field in each.fields), None
    )


def _clock_bit(soc: Soc, block: str, gate: ClockGate | None) -> tuple[str, str] | None:
    if gate is None:
        return None
    bit = gate.field or f"{block}EN"
    registers = soc.peripherals["RCC"].registers
    found = (name for name, register in registers.items() if _ENABLE.fullmatch(name) and bit in register.fields)
    register = gate.register or next(found, "")
    if register not in registers or bit not in registers[register].fields:
        what = f"RCC {register} has no field '{bit}' for the clock of {block}"
        raise N6Error("N6-SOC-009", what, where=_where(soc), hint="correct `clock` of this block, or add the field")
    return register, bit
