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


def recovery_defines(pin: RecoveryPin | None, page: int) -> tuple[str, ...]:
    """Return the C macros for recovery over the console.

    Args:
        pin: Pin of the board, or None.
        page: Bytes that the NOR programs at once.
    """
    of_pin = (
        ()
        if pin is None
        else (
            f"N6_RECOVERY_PORT_BASE=N6_{pin.port}_BASE",
            f"N6_RECOVERY_PORT_ENABLE=N6_RCC_AHB4ENR_{pin.port}EN",
            f"N6_RECOVERY_PIN={pin.line}u",
            f"N6_RECOVERY_LEVEL={int(pin.level == 'high')}u",
        )
    )
    return ("N6_RECOVERY=1", f"N6_NOR_PAGE={page}u", *of_pin)
