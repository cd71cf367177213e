"""The pin of a board that asks its FSBL to wait for a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from n6build.base.yaml_schema import Identifier


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
