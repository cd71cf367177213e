"""Addresses at which the boot ROM puts the FSBL and the FSBL puts the Appli."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.describe.hardware.soc import Soc


@dataclass(frozen=True)
class ProgramPlace:
    """The place of a program in RAM.

    Attributes:
        image: address of the image, which begins with the boot header.
        payload_offset: offset of the program in the image, in bytes.
        max_bytes: bytes of the image and of the program's other data.
    """

    image: int
    payload_offset: int
    max_bytes: int

    @property
    def address(self) -> int:
        """Address of the program's first byte, its vector table."""
        return self.image + self.payload_offset

    @property
    def room(self) -> int:
        """Bytes of the program with all its data."""
        return self.max_bytes - self.payload_offset


@dataclass(frozen=True)
class ProgramPlaces:
    """The places of both programs."""

    fsbl: ProgramPlace
    appli: ProgramPlace


def places_of(soc: Soc) -> ProgramPlaces:
    """Return the places of the programs on a chip, as build steps take them."""
    boot, load = soc.boot, soc.load_and_run
    return ProgramPlaces(
        ProgramPlace(boot.header_address, boot.payload_offset, boot.max_image),
        ProgramPlace(load.load_address, load.payload_offset, load.max_bytes),
    )
