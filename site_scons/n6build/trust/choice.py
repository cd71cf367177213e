"""What a build signs with, and what its programs verify."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from n6build.formats.trust_claim import Kind


@dataclass(frozen=True)
class Counters:
    """Security counters, which a build puts into its images by their kind."""

    appli: int = 0
    model: int = 0
    data: int = 0

    def of(self, kind: Kind) -> int:
        """Of images of this kind."""
        return {Kind.APPLI: self.appli, Kind.MODEL: self.model, Kind.DATA: self.data}[kind]


@dataclass(frozen=True)
class Trust:
    """level: what programs verify at each start. key: file of the private key, which only steps that sign read. point: its public
    half, in hexadecimal: what steps depend on."""

    level: Literal["code", "full"]
    key: str
    point: str
    counters: Counters
