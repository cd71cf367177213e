"""Values of the NPU's registers from the names of their fields; numbers of units and of the stream switch's ports."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.hardware.npu import Npu
from n6build.hardware.soc import field_bits

# Of the clock gates, in CLKCTRL.
GATES = "BGATES"


@dataclass(frozen=True)
class Port:
    """Of the stream switch. kind, index: of the unit. port: of it."""

    kind: str
    index: int
    port: int = 0


def unit_number(npu: Npu, kind: str, index: int = 0) -> int:
    """In units of 4 KiB from the NPU's base, which is how the epoch controller calls it."""
    return npu.units[kind].first + index


def register(npu: Npu, kind: str, name: str) -> int:
    """Number of the register in its unit: its offset in words."""
    return npu.registers[kind][name].offset // 4


def packed(npu: Npu, kind: str, name: str, **fields: int) -> int:
    """The register's value; fields that are not named are 0, and a field may be negative. Raises ValueError for a number that
    its field cannot hold."""
    value = 0
    for field, content in fields.items():
        low, mask = field_bits(npu.registers[kind][name].fields[field])
        if not -(mask >> low) <= content <= mask >> low:
            raise ValueError(f"{kind} {name} {field} cannot be {content}")
        value |= (content << low) & mask
    return value


def source_number(npu: Npu, port: Port) -> int:
    """Of what comes out of a unit."""
    return _port_number(npu, npu.sources, port)


def destination_number(npu: Npu, port: Port) -> int:
    """Of what goes into a unit."""
    return _port_number(npu, npu.destinations, port)


def _port_number(npu: Npu, ports: dict[str, tuple[str, ...]], wanted: Port) -> int:
    number = 0
    for kind, names in ports.items():
        if kind == wanted.kind:
            return number + wanted.index * len(names) + wanted.port
        number += npu.units[kind].count * len(names)
    raise ValueError(f"the stream switch has no port of {wanted.kind}")


def gate_bit(npu: Npu, kind: str, index: int) -> int:
    """In the register `GATES`."""
    gate = npu.units[kind].gate
    assert gate is not None
    return gate.bit + index
