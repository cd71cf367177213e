"""Values of the NPU's registers, and numbers of its units and ports.

The values are made from the names of fields. The ports are those of the stream switch.
"""

from __future__ import annotations

from dataclasses import dataclass

from n6build.describe.hardware.npu import Npu
from n6build.describe.hardware.soc import field_bits

# Register of the clock gates, in CLKCTRL.
GATES = "BGATES"


class DoesNotFit(Exception):
    """A number that a register cannot hold, or more units than the NPU has."""


@dataclass(frozen=True)
class Port:
    """A port of the stream switch.

    Attributes:
        kind: Kind of the unit.
        index: Index of the unit.
        port: Number of the unit's port.
    """

    kind: str
    index: int
    port: int = 0


def unit_number(npu: Npu, kind: str, index: int = 0) -> int:
    """Return the number of a unit, in units of 4 KiB from the NPU's base.

    The epoch controller addresses a unit by this number.
    """
    return npu.units[kind].first + index


def register(npu: Npu, kind: str, name: str) -> int:
    """Return the number of a register in its unit: its offset in words."""
    return npu.registers[kind][name].offset // 4


def packed(npu: Npu, kind: str, name: str, **fields: int) -> int:
    """Return the value of a register.

    Fields that are not named are 0. A field may be negative.

    Raises:
        DoesNotFit: If a field cannot hold its number.
    """
    value = 0
    for field, content in fields.items():
        low, mask = field_bits(npu.registers[kind][name].fields[field])
        if not -(mask >> low) <= content <= mask >> low:
            raise DoesNotFit(f"{kind} {name} {field} cannot be {content}")
        value |= (content << low) & mask
    return value


def source_number(npu: Npu, port: Port) -> int:
    """Return the stream switch's number of a unit's output."""
    return _port_number(npu, npu.sources, port)


def destination_number(npu: Npu, port: Port) -> int:
    """Return the stream switch's number of a unit's input."""
    return _port_number(npu, npu.destinations, port)


def _port_number(npu: Npu, ports: dict[str, tuple[str, ...]], wanted: Port) -> int:
    number = 0
    for kind, names in ports.items():
        if kind == wanted.kind:
            return number + wanted.index * len(names) + wanted.port
        number += npu.units[kind].count * len(names)
    raise ValueError(f"the stream switch has no port of {wanted.kind}")


def gate_bit(npu: Npu, kind: str, index: int) -> int:
    """Return the bit of a unit in the register `GATES`."""
    gate = npu.units[kind].gate
    assert gate is not None
    return gate.bit + index
