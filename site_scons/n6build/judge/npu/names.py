"""Units, registers and fields of the NPU by the names in the chip's description."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.describe.hardware.npu import Npu, NpuRegister
from n6build.describe.hardware.soc import field_bits

UNIT_BYTES = 0x1000
VERSION = 4
_WORD = (1 << 32) - 1


@dataclass(frozen=True)
class Unit:
    """A unit of the NPU.

    Attributes:
        number: Number of the unit, in multiples of UNIT_BYTES from the NPU's base.
        kind: Kind of unit.
        name: Name, such as CONVACC2.
    """

    number: int
    kind: str
    name: str


@dataclass(frozen=True)
class RegisterAt:
    """A register of a unit.

    Attributes:
        name: Name, with its number if there are several of the kind, such as DST12.
        number: Number among the registers of the kind.
        register: Its description.
    """

    name: str
    number: int
    register: NpuRegister


@dataclass(frozen=True)
class Names:
    """The names of a chip's NPU.

    Attributes:
        units: Units by number.
        registers: Registers by kind of unit and offset.
        sources: Source ports of the stream switch.
        destinations: Destination ports of the stream switch.
    """

    units: dict[int, Unit]
    registers: dict[tuple[str, int], RegisterAt]
    sources: tuple[str, ...]
    destinations: tuple[str, ...]

    def register(self, unit: int, offset: int) -> RegisterAt | None:
        """Return a register, None if the chip's description has none."""
        return self.registers.get((self.units[unit].kind, offset)) if unit in self.units else None

    def register_name(self, unit: int, offset: int) -> str:
        """Return a name such as CONVACC2.KFORMAT, or CONVACC2+0x3C if it is unknown."""
        owner = self.units[unit].name if unit in self.units else f"unit{unit}"
        found = self.register(unit, offset)
        return f"{owner}.{found.name}" if found else f"{owner}+0x{offset:02X}"

    def fields(self, unit: int, offset: int, value: int) -> str:
        """Return the fields other than 0, such as 'SIMD=1 KSETEN=3'.

        Ports of the stream switch have names; the text is empty if no fields are known.
        """
        found = self.register(unit, offset)
        if found is None:
            return ""
        if self.units[unit].kind == "STRSWITCH" and found.register.count > 1:
            return self._link(found.number, value)
        shown = [(name, content) for name, content in field_values(found.register, value) if content]
        if [name for name, _ in shown] in (["REG"], ["CNT"]):
            return ""
        return " ".join(f"{name}={content}" for name, content in shown)

    def _link(self, destination: int, value: int) -> str:
        """Return the active contexts of a destination.

        An example is 'CONVACC3.features <- STRENG6.out 1 frame, drops 255'.
        """
        contexts = []
        for shift in (0, 16):
            on, source, frames = value >> shift & 1, value >> (shift + 1) & 0x3F, value >> (shift + 8) & 0xFF
            if on or frames:
                name = self.sources[source] if source < len(self.sources) else f"source {source}"
                contexts.append(f"{'' if on else 'drops '}{name}{f' {frames} frames' if frames else ''}")
        at = self.destinations[destination] if destination < len(self.destinations) else f"destination {destination}"
        return f"{at} <- {', then '.join(contexts)}" if contexts else ""


def field_values(register: NpuRegister, value: int) -> Iterator[tuple[str, int]]:
    """Yield each field of a register with its value, in the order of the description."""
    for name, bits in register.fields.items():
        low, mask = field_bits(bits)
        yield name, (value & mask) >> low


def names_of(npu: Npu) -> Names:
    """Return the chip's units and registers by their addresses."""
    units = {
        each.first + index: Unit(each.first + index, kind, f"{kind}{index}" if each.count > 1 else kind)
        for kind, each in npu.units.items()
        for index in range(each.count)
    }
    registers = {
        (kind, register.offset + 4 * number): RegisterAt(
            f"{name}{number}" if register.count > 1 else name, number, register
        )
        for kind, known in npu.registers.items()
        for name, register in known.items()
        for number in range(register.count)
    }
    registers |= {(kind, VERSION): RegisterAt("VERSION", 0, NpuRegister(VERSION)) for kind in npu.units}
    return Names(units, registers, _ports(npu, npu.sources), _ports(npu, npu.destinations))


def _ports(npu: Npu, by_kind: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    names = []
    for kind, ports in by_kind.items():
        count = npu.units[kind].count
        names += [f"{kind}{index if count > 1 else ''}.{port}" for index in range(count) for port in ports]
    return tuple(names)


def with_bits(before: int, low: int, high: int, value: int) -> int:
    """Return `before` with bits low to high replaced."""
    mask = ((1 << (high - low + 1)) - 1) << low
    return (before & ~mask | value << low & mask) & _WORD
