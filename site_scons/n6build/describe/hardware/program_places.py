"""Addresses at which the boot ROM puts the FSBL and the FSBL puts the Appli.

Linker scripts of FSBL and Appli. The programs are linked for the addresses to which the boot ROM
and the FSBL load them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
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


TEMPLATE = TEMPLATES / "program.ld.j2"
_FSBL_STACK_BYTES = 8 << 10
_APPLI_STACK_BYTES = 16 << 10
# Constants, initialised data and the image may grow by up to this before the section that follows moves.
_CONSTANTS_ALIGNMENT = 1 << 10
_DATA_ALIGNMENT = 256
_VARIABLES_ALIGNMENT = 16 << 10


@dataclass(frozen=True)
class ProgramRam:
    """The RAM of a program. All sizes are bytes.

    Attributes:
        name: name of the program, as users know it.
        origin: start of the RAM.
        length: size of the RAM.
        vector_alignment: alignment of the chip's vector table.
    """

    name: str
    origin: int
    length: int
    vector_alignment: int
    stack_bytes: int


def fsbl_ram(soc: Soc) -> ProgramRam:
    """Return the RAM of the FSBL, behind the header in the boot ROM's image."""
    return _ram(soc, "FSBL", places_of(soc).fsbl, _FSBL_STACK_BYTES)


def appli_ram(soc: Soc) -> ProgramRam:
    """Return the RAM of the Appli, behind the header where the FSBL copies it."""
    return _ram(soc, "Appli", places_of(soc).appli, _APPLI_STACK_BYTES)


def _ram(soc: Soc, name: str, place: ProgramPlace, stack_bytes: int) -> ProgramRam:
    return ProgramRam(name, place.address, place.room, soc.vector_alignment, stack_bytes)


def program_script(ram: ProgramRam) -> str:
    """Return the text of the linker script."""
    values = {
        "constants_alignment": _CONSTANTS_ALIGNMENT,
        "data_alignment": _DATA_ALIGNMENT,
        "variables_alignment": _VARIABLES_ALIGNMENT,
    }
    return render(TEMPLATE, {**asdict(ram), **values})
