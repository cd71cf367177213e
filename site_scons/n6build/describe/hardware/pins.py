"""Pins of a board."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from n6build.base.yaml_schema import Identifier, Range


@dataclass(frozen=True)
class RecoveryPin:
    """A pin that is held at a reset, with `recovery=on`.

    Attributes:
        pin: Pin, such as PC13.
        level: Its level while it is held.
    """

    pin: Identifier
    level: Literal["low", "high"]

    @property
    def port(self) -> str:
        """Return the GPIO port, such as GPIOC."""
        return f"GPIO{self.pin[1]}"

    @property
    def line(self) -> int:
        """Return the number of the line in its port."""
        return int(self.pin[2:])


@dataclass(frozen=True)
class PortLines:
    """Pins of one port.

    Attributes:
        port: GPIO port, such as GPION.
        lines: numbers of all lines.
    """

    port: Identifier
    lines: tuple[Annotated[int, Range(0, 15)], ...]

    @property
    def mask(self) -> int:
        """One bit for each line of the port."""
        return sum(1 << line for line in self.lines)


@dataclass(frozen=True)
class PortPins(PortLines):
    """Pins of one port with a function. alternate: alternate function of the lines."""

    alternate: Annotated[int, Range(0, 15)]


@dataclass(frozen=True)
class SelectPins(PortPins):
    """Pins of one port, one of which is a chip select. chip_select: one of the lines."""

    chip_select: Annotated[int, Range(0, 15)]
