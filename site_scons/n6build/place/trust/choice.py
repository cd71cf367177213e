"""The key that a build signs with, and the checks of its programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from n6build.describe.formats.trust_claim import Kind


@dataclass(frozen=True)
class Counters:
    """Security counters, which a build puts into its images by their kind."""

    appli: int = 0
    model: int = 0
    data: int = 0

    def of(self, kind: Kind) -> int:
        """Return the counter of images of a kind."""
        return {Kind.APPLI: self.appli, Kind.MODEL: self.model, Kind.DATA: self.data}[kind]


@dataclass(frozen=True)
class Trust:
    """The choice of keys and checks.

    Attributes:
        level: Parts that programs verify at each start.
        key: File of the private key, which only steps that sign read.
        point: Public key in hexadecimal, which steps depend on.
        counters: Security counters.
    """

    level: Literal["code", "full"]
    key: str
    point: str
    counters: Counters
