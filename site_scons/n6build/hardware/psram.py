"""Commands and mode registers of a family of PSRAM parts, as described in boards/psram/<name>.yaml."""

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
    """A mode register with a latency. address: of it. low_bit: of its code. cycles: of the clock, by the code; 0: there is no
    such code. chosen: the cycles that the firmware sets. after_reset: those of the part by itself."""

    address: Byte
    low_bit: Annotated[int, Range(0, 7)]
    cycles: tuple[Annotated[int, Range(0, 32)], ...]
    chosen: Annotated[int, Range(1, 32)]
    after_reset: Annotated[int, Range(1, 32)]

    @property
    def value(self) -> int:
        """The code of the chosen cycles, in its place."""
        return self.cycles.index(self.chosen) << self.low_bit

    @property
    def reset_value(self) -> int:
        """The code of the cycles after a reset, in its place."""
        return self.cycles.index(self.after_reset) << self.low_bit


@dataclass(frozen=True)
class RegisterValue:
    """address: of the register. value: what the firmware writes."""

    address: Byte
    value: Byte


@dataclass(frozen=True)
class VendorRegister:
    """A register that tells the vendor. address: of it. mask: the bits that do. value: of these bits."""

    address: Byte
    mask: Byte
    value: Byte


@dataclass(frozen=True)
class DensityRegister:
    """A register that tells the size. address: of it. mask: the bits that do. sizes: bytes of the part, by the code in
    `mask`, which begins at bit 0; 0: there is no such code."""

    address: Byte
    mask: Byte
    sizes: tuple[Size, ...]


@dataclass(frozen=True)
class PsramCommands:
    """Opcodes of eight bits; addresses have 32. name: of the file. reset: of the part. read_register, write_register: of mode
    registers. vendor, density: by which the part is known. memory_type: of XSPI DCR1. read, write: linear bursts.

    fixed_latency: bits of the read latency's register. width: with its value, data use sixteen lines. row: bytes that a burst
    runs through at most. max_select_ns: for which the part may be selected at a time, since it has to refresh itself.
    """

    name: Name
    memory_type: Annotated[int, Range(0, 7)]
    reset: Byte
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
        """What the register of the read latency is set to."""
        return self.read_latency.value | self.fixed_latency

    def refresh_cycles(self, clock_hz: int) -> int:
        """Of XSPI DCR4: after so many clock cycles the controller ends an access, with four to spare as in ST's board support
        package."""
        return max(self.max_select_ns * clock_hz // 1_000_000_000 - 4, 1)


def load_psram_commands(path: Path, shown_as: str) -> PsramCommands:
    """path: boards/psram/<name>.yaml. shown_as: its name in messages. Raises N6-PSRAM-001 if its name, a latency, its rows or
    its sizes are wrong, N6-YAML-00x."""
    document = read_document(path, shown_as=shown_as)
    commands = document.load(PsramCommands)
    if commands.name != path.stem:
        what = f"the commands are called '{commands.name}', their file '{path.stem}'"
        raise N6Error("N6-PSRAM-001", what, where=document.where("name"), hint="give both the same name")
    for key, latency in (("read_latency", commands.read_latency), ("write_latency", commands.write_latency)):
        _check_latency(key, latency, document)
    if commands.row & (commands.row - 1) or commands.row < 256:
        what = f"rows of {commands.row} bytes: must be a power of two, of 256 bytes or more"
        raise N6Error("N6-PSRAM-001", what, where=document.where("row"))
    beyond = len(commands.density.sizes) - commands.density.mask - 1
    if beyond > 0:
        what = f"{beyond} sizes more than codes in mask 0x{commands.density.mask:02X}"
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
