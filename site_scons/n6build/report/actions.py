"""What a call of scons has done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DoneAction:
    """stage: such as network or compile. target: path of the first file it made."""

    stage: str
    target: str
    seconds: float
