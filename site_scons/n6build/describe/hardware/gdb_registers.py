"""The chip's registers as names for GDB."""

from __future__ import annotations

from n6build.describe.hardware.soc import Soc

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
