"""The debug port of the chips: its identification, access ports and comparators."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from n6build.base.paths import BOARDS
from n6build.base.yaml_schema import Address, Identifier, Range, read_document

# One file for the family, as for field registers.
DEBUG_PORT = BOARDS / "soc" / "stm32n6-debug.yaml"


@dataclass(frozen=True)
class AccessPort:
    """An access port.

    Attributes:
        idr: Value of its register IDR.
        rom_table: Value of its register BASE.
    """

    idr: Address
    rom_table: Address


@dataclass(frozen=True)
class Component:
    """A component that the ROM table lists.

    Attributes:
        base: Address of its registers.
        part: Part number in its registers PIDR0 and PIDR1.
        architecture: Value of its register DEVARCH.
    """

    base: Address
    part: Annotated[int, Range(0, 0xFFF)]
    architecture: Address


@dataclass(frozen=True)
class DebugPort:
    """The debug port of a chip.

    Attributes:
        idcode: IDCODE over JTAG.
        dpidr: DPIDR over SWD.
        targetid: TARGETID.
        access_ports: Access ports by number.
        dbgmcu_through_ap0: Addresses at which AP0 shows DBGMCU.
        components: Components by name.
        breakpoints: Number of breakpoint comparators.
        watchpoints: Number of watchpoint comparators.
        increment_bits: Bits of an address that a transfer increments.
        transfer_us: Guest time of a transfer, in microseconds.
        opens_us: Time behind a reset until the boot ROM opens AP1, in microseconds.
    """

    idcode: Address
    dpidr: Address
    targetid: Address
    access_ports: tuple[AccessPort, ...]
    dbgmcu_through_ap0: tuple[Address, ...]
    components: dict[Identifier, Component]
    breakpoints: Annotated[int, Range(1, 8)]
    watchpoints: Annotated[int, Range(0, 8)]
    increment_bits: Annotated[int, Range(10, 32)]
    transfer_us: Annotated[int, Range(1, 1_000_000)]
    opens_us: Annotated[int, Range(0, 100_000_000)]


def read_debug_port(path: Path = DEBUG_PORT) -> DebugPort:
    """Read the description of the debug port.

    Raises:
        N6Error: N6-YAML-00x.
    """
    return read_document(path).load(DebugPort)
