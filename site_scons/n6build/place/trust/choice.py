"""The key that a build signs with, and the checks of its programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from n6build.place.trust.encryption import Encryption

# Numbers of the levels in firmware/trust; N6_TRUST_FULL is the last.
LEVELS = {"code": 1, "full": 2}


@dataclass(frozen=True)
class Trust:
    """The choice of keys and checks.

    Attributes:
        level: Parts that programs verify at each start.
        key: File of the key: of the private one, which only steps that sign read, or with sign_with of its public half.
        points: Public keys that boards accept, in hexadecimal, by their numbers. Steps depend on them, not on files.
        number: Number of the key that signs.
        counter: Security counter of the release.
        sign_with: Command or token that signs; empty for the private key itself.
        encryption: Key of the Appli and of copied weights in flash; None if they are not encrypted.
        advances: The FSBL programs fuses up to the counter of a confirmed release.
    """

    level: Literal["code", "full"]
    key: str
    points: tuple[str, ...]
    number: int
    counter: int
    sign_with: str
    encryption: Encryption | None = None
    advances: bool = False
