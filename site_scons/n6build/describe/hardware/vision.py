"""Camera and panel of a board, and their constants for C: n6_board_vision.h."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from n6build.base.same_fields import with_fields_of
from n6build.base.yaml_schema import Identifier, Name, Range
from n6build.describe.hardware.i2c import Sensor
from n6build.describe.hardware.pins import PortLines

# Values of DCMIPP's P1DMCR.TYPE (names of ST's HAL).
PATTERNS = {"RGGB": 0, "GRBG": 1, "GBRG": 2, "BGGR": 3}
# The PHY of CSI takes a clock of 20 MHz, and DCMIPP at most 333 MHz (ST's camera middleware).
_PHY_HZ, _DCMIPP_HZ = 20_000_000, 333_333_333


@dataclass(frozen=True)
class Camera:
    """The connector of a camera module.

    Attributes:
        part: name of a file in boards/i2c with a sensor.
        bus: I2C bus of the sensor.
        scl, sda: pins of the bus.
        alternate: alternate function of these two pins.
        reset: pin that releases the sensor.
        enable: pin that switches on its power.
        supply: supply of these two pins, at 3.3 V.
    """

    part: Name
    bus: Literal["I2C1"]
    scl: Identifier
    sda: Identifier
    alternate: Annotated[int, Range(0, 15)]
    reset: Identifier
    enable: Identifier
    supply: Literal["VDDIO4"]


@dataclass(frozen=True)
class Display:
    """A panel behind the LTDC.

    Attributes:
        width, height: pixels.
        porch: pixels, and lines, of the synchronisation, and of each porch.
        pixel_hz: clock of the pixels.
        alternate: alternate function of the pins.
        pins: pins that the LTDC drives.
        high: pins that have to be high.
    """

    width: Annotated[int, Range(16, 2048)]
    height: Annotated[int, Range(16, 2048)]
    porch: Annotated[int, Range(1, 255)]
    pixel_hz: Annotated[int, Range(1_000_000, 100_000_000)]
    alternate: Annotated[int, Range(0, 15)]
    pins: tuple[PortLines, ...]
    high: tuple[Identifier, ...] = ()


@dataclass(frozen=True)
class CameraConstants:
    """A camera for programs; pins and supply as in `Camera`, pictures as in `Sensor`.

    Attributes:
        address: I2C address of 7 bits.
        pattern: value of DCMIPP's P1DMCR.TYPE.
        start: register that starts the sensor, and its value.
        gains: multiplier and shift of DCMIPP's exposure, for red, green and blue.
        dcmipp_divider, phy_divider: dividers of PLL1.
    """

    camera: Camera
    address: int
    width: int
    height: int
    lanes: int
    bits: int
    black: int
    pattern: int
    settings: tuple[tuple[int, ...], ...]
    start: tuple[int, int]
    gains: tuple[tuple[int, int], ...]
    dcmipp_divider: int
    phy_divider: int


@dataclass(frozen=True)
class DisplayConstants:
    """A panel for programs.

    Attributes:
        ports: port of the data, and a bit for each of its lines.
        pixel_divider: divider of PLL1.
    """

    display: Display
    ports: tuple[tuple[str, int], ...]
    pixel_divider: int


def camera_constants(camera: Camera, address: int, sensor: Sensor, pll1_hz: int) -> CameraConstants:
    """Return the constants of a camera.

    Args:
        camera: Connector of the board.
        address: I2C address of the sensor.
        sensor: Sensor of the module.
        pll1_hz: Clock of PLL1.
    """
    return with_fields_of(
        CameraConstants,
        sensor,
        camera=camera,
        address=address,
        pattern=PATTERNS[sensor.pattern],
        start=(sensor.streams.number, sensor.streams.value),
        gains=tuple(_gain(percent, sensor.black) for percent in sensor.daylight),
        dcmipp_divider=-(-pll1_hz // _DCMIPP_HZ),
        phy_divider=-(-pll1_hz // _PHY_HZ),
    )


def _gain(percent: int, black: int) -> tuple[int, int]:
    """Return multiplier and shift of a gain; 128 is 1.

    White stays white without the black level.
    """
    gain = round(128 * percent / 100 * 255 / (255 - black))
    shift = max(gain.bit_length() - 8, 0)
    return gain >> shift, shift


def display_constants(display: Display, pll1_hz: int) -> DisplayConstants:
    """Return the constants of a panel. pll1_hz: clock of PLL1."""
    ports = tuple((each.port, each.mask) for each in display.pins)
    return DisplayConstants(display, ports, -(-pll1_hz // display.pixel_hz))
