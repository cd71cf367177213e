"""Devices on the I2C buses of a board.

The parts are described in boards/i2c/<name>.yaml, their buses and addresses in board.yaml.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from n6build.base.errors import N6Error
from n6build.base.yaml_schema import Address, Identifier, Name, Range, read_document

Bus = Literal["I2C1", "I2C2", "I2C3", "I2C4"]
# Seven bits; those below and above are reserved (I2C-bus specification, table of reserved addresses).
BusAddress = Annotated[int, Range(0x08, 0x77)]


@dataclass(frozen=True)
class I2cRegister:
    """A register of an I2C part.

    Attributes:
        number: number of the register.
        value: value at power-on.
        constant: whether a write leaves the value unchanged.
    """

    number: Annotated[int, Range(0, 0xFFFF)]
    value: Address
    constant: bool = False


@dataclass(frozen=True)
class Streaming:
    """The register and its value that let a sensor send pictures.

    Attributes:
        number: number of the register.
        value: value that starts the sensor; all others stop it.
    """

    number: Annotated[int, Range(0, 0xFFFF)]
    value: Annotated[int, Range(0, 0xFF)]


@dataclass(frozen=True)
class Sensor:
    """An image sensor behind CSI-2.

    Attributes:
        width: pixels of a line.
        height: lines of a picture.
        lanes: data lanes.
        bits: bits of a pixel.
        streams: register and value that start it.
        period_lines: first of two registers with the lines of a frame's period, least significant first.
        line_ns: nanoseconds of a line.
        pattern: colours of the first two pixels of the first two lines.
        black: value of black pixels, of 255.
        daylight: gains of red, green and blue in percent that make daylight white.
        settings: pairs of a register and its value, which a program sets before it starts the sensor.
    """

    width: Annotated[int, Range(16, 8192)]
    height: Annotated[int, Range(16, 8192)]
    lanes: Annotated[int, Range(1, 2)]
    bits: Annotated[int, Range(6, 16)]
    streams: Streaming
    period_lines: Annotated[int, Range(0, 0xFFFF)]
    line_ns: Annotated[int, Range(1, 1_000_000)]
    pattern: Literal["RGGB", "GRBG", "GBRG", "BGGR"] = "RGGB"
    black: Annotated[int, Range(0, 128)] = 0
    daylight: tuple[Annotated[int, Range(25, 400)], ...] = (100, 100, 100)
    settings: tuple[tuple[Annotated[int, Range(0, 0xFFFF)], ...], ...] = ()


@dataclass(frozen=True)
class I2cPart:
    """An I2C part.

    Attributes:
        name: name of the part and of its file.
        address: bus address of 7 bits.
        number_bytes: bytes of a register's number, most significant byte first.
        value_bytes: bytes of a register's value, most significant byte first.
        registers: registers that do not begin with 0, by name.
        sensor: its pictures, if it is an image sensor: it is on the bus only in a run with option camera.
    """

    name: Name
    address: BusAddress
    number_bytes: Annotated[int, Range(1, 2)]
    value_bytes: Annotated[int, Range(1, 4)]
    registers: dict[Identifier, I2cRegister] = field(default_factory=dict)
    sensor: Sensor | None = None


@dataclass(frozen=True)
class I2cDevice:
    """A device on an I2C bus of the board.

    Attributes:
        bus: bus of the device.
        part: name of a file in boards/i2c.
        address: bus address of 7 bits that replaces the part's own.
    """

    bus: Bus
    part: Name
    address: BusAddress | None = None


def load_i2c_part(path: Path, shown_as: str) -> I2cPart:
    """Read the description of an I2C part.

    Args:
        path: boards/i2c/<name>.yaml.
        shown_as: name of the file in messages.

    Raises:
        N6Error: N6-BUS-001 if the name is wrong, or a register does not fit; N6-YAML-00x.
    """
    document = read_document(path, shown_as=shown_as)
    part = document.load(I2cPart)
    if part.name != path.stem:
        what = f"the name of the part is '{part.name}', but its file is '{path.stem}'"
        raise N6Error("N6-BUS-001", what, where=document.where("name"), hint="use the same name for both")
    for name, register in part.registers.items():
        for key, value, size in (
            ("number", register.number, part.number_bytes),
            ("value", register.value, part.value_bytes),
        ):
            if value >> 8 * size:
                what = f"{key} 0x{value:X} of register {name} does not fit into {size} bytes"
                raise N6Error("N6-BUS-001", what, where=document.where("registers", name, key))
    if part.sensor and len(part.sensor.daylight) != len("RGB"):
        what = f"{len(part.sensor.daylight)} gains: red, green and blue have one each"
        raise N6Error("N6-BUS-001", what, where=document.where("sensor", "daylight"))
    for each in part.sensor.settings if part.sensor else ():
        if len(each) != 2 or each[1] >> 8 * part.value_bytes:
            what = f"{list(each)} is not a register with a value of {part.value_bytes} bytes"
            raise N6Error("N6-BUS-001", what, where=document.where("sensor", "settings"), hint="write [0x3000, 0x01]")
    return part
