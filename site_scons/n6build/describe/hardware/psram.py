"""Commands and mode registers of a PSRAM family.

The source is boards/psram/<name>.yaml.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from n6build.base.errors import N6Error
from n6build.base.yaml_schema import Document, Name, Range, Size, read_document

Byte = Annotated[int, Range(0, 0xFF)]
Nanoseconds = Annotated[int, Range(100, 100_000)]


@dataclass(frozen=True)
class LatencyRegister:
    """A mode register with a latency.

    Attributes:
        address: address of the register.
        low_bit: lowest bit of the latency code.
        cycles: clock cycles, indexed by the code; 0 for a code that does not exist.
        chosen: cycles that the firmware sets.
        after_reset: cycles that the part has after a reset.
    """

    address: Byte
    low_bit: Annotated[int, Range(0, 7)]
    cycles: tuple[Annotated[int, Range(0, 32)], ...]
    chosen: Annotated[int, Range(1, 32)]
    after_reset: Annotated[int, Range(1, 32)]

    @property
    def value(self) -> int:
        """The code of the chosen cycles, shifted to its place in the register."""
        return self.cycles.index(self.chosen) << self.low_bit

    @property
    def reset_value(self) -> int:
        """The code of the cycles after a reset, shifted to its place in the register."""
        return self.cycles.index(self.after_reset) << self.low_bit


@dataclass(frozen=True)
class RegisterValue:
    """A register with the value that the firmware writes.

    Attributes:
        address: address of the register.
        value: value that the firmware writes.
    """

    address: Byte
    value: Byte


@dataclass(frozen=True)
class VendorRegister:
    """A register that identifies the vendor.

    Attributes:
        address: address of the register.
        mask: bits that identify the vendor.
        value: value of these bits.
    """

    address: Byte
    mask: Byte
    value: Byte


@dataclass(frozen=True)
class DensityRegister:
    """A register that identifies the size.

    Attributes:
        address: address of the register.
        mask: bits with the size code, which begins at bit 0.
        sizes: bytes of the part, indexed by the code; 0 for a code that does not exist.
    """

    address: Byte
    mask: Byte
    sizes: tuple[Size, ...]


@dataclass(frozen=True)
class PsramCommands:
    """Commands of a PSRAM family: opcodes of 8 bits, addresses of 32 bits.

    Attributes:
        name: name of the file.
        memory_type: value for XSPI DCR1.
        reset: command that resets the part.
        reset_us: microseconds until the part takes a command after a reset.
        read, write: commands for linear bursts.
        read_register, write_register: commands for mode registers.
        fixed_latency: bits to set in the register of the read latency.
        width: register and value that switch the data to sixteen lines.
        row: bytes after which a burst must end at the latest.
        vendor, density: registers that identify the part.
        max_select_ns: nanoseconds for which the part may be selected at a time; it needs the rest
            to refresh itself.
    """

    name: Name
    memory_type: Annotated[int, Range(0, 7)]
    reset: Byte
    reset_us: Annotated[int, Range(0, 1_000_000)]
    read: Byte
    write: Byte
    read_register: Byte
    write_register: Byte
    read_latency: LatencyRegister
    write_latency: LatencyRegister
    fixed_latency: Byte
    width: RegisterValue
    row: Size
    vendor: VendorRegister
    density: DensityRegister
    max_select_ns: Nanoseconds

    @property
    def read_latency_value(self) -> int:
        """The value that the firmware writes to the register of the read latency."""
        return self.read_latency.value | self.fixed_latency

    def refresh_cycles(self, clock_hz: int) -> int:
        """Return the clock cycles after which the controller ends an access (XSPI DCR4).

        Four cycles are kept in reserve, as in ST's board support package.
        """
        return max(self.max_select_ns * clock_hz // 1_000_000_000 - 4, 1)


def load_psram_commands(path: Path, shown_as: str) -> PsramCommands:
    """Read the commands of a PSRAM family.

    Args:
        path: boards/psram/<name>.yaml.
        shown_as: name of the file in messages.

    Raises:
        N6Error: N6-PSRAM-001 if the name, a latency, the rows or the sizes are wrong; N6-YAML-00x.
    """
    document = read_document(path, shown_as=shown_as)
    commands = document.load(PsramCommands)
    if commands.name != path.stem:
        what = f"the name of the commands is '{commands.name}', but their file is '{path.stem}'"
        raise N6Error("N6-PSRAM-001", what, where=document.where("name"), hint="use the same name for both")
    for key, latency in (("read_latency", commands.read_latency), ("write_latency", commands.write_latency)):
        _check_latency(key, latency, document)
    if commands.row & (commands.row - 1) or commands.row < 256:
        what = f"rows of {commands.row} bytes: must be a power of two, of 256 bytes or more"
        raise N6Error("N6-PSRAM-001", what, where=document.where("row"))
    beyond = len(commands.density.sizes) - commands.density.mask - 1
    if beyond > 0:
        what = f"{beyond} more sizes than codes in mask 0x{commands.density.mask:02X}"
        raise N6Error("N6-PSRAM-001", what, where=document.where("density", "sizes"))
    return commands


def _check_latency(key: str, latency: LatencyRegister, document: Document) -> None:
    for name, cycles in (("chosen", latency.chosen), ("after_reset", latency.after_reset)):
        if cycles not in latency.cycles:
            what = f"no code of the register gives a latency of {cycles} cycles"
            hint = f"known: {', '.join(str(each) for each in latency.cycles if each)}"
            raise N6Error("N6-PSRAM-001", what, where=document.where(key, name), hint=hint)
    if (len(latency.cycles) - 1) << latency.low_bit > 0xFF:
        what = f"the codes do not fit into eight bits from bit {latency.low_bit} on"
        raise N6Error("N6-PSRAM-001", what, where=document.where(key, "low_bit"))
