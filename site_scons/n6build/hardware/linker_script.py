"""Linker scripts of FSBL and Appli, for the addresses to which the boot ROM and the FSBL load them."""

from __future__ import annotations

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.hardware.soc import Soc

TEMPLATE = TEMPLATES / "program.ld.j2"
_FSBL_STACK_BYTES = 8 << 10
_APPLI_STACK_BYTES = 16 << 10
# Constants, initialised data and the image may grow by up to this before what follows them moves.
_CONSTANTS_ALIGNMENT = 1 << 10
_DATA_ALIGNMENT = 256
_VARIABLES_ALIGNMENT = 16 << 10


def fsbl_script(soc: Soc) -> str:
    """The linker script of the FSBL: behind the boot header, in what the boot ROM loads."""
    boot = soc.boot
    return _script(
        soc, "FSBL", boot.header_address + boot.payload_offset, boot.max_image - boot.payload_offset, _FSBL_STACK_BYTES
    )


def appli_script(soc: Soc) -> str:
    """The linker script of the Appli: behind the boot header, at the address to which the FSBL copies it."""
    load = soc.load_and_run
    return _script(
        soc, "Appli", load.load_address + load.payload_offset, load.max_bytes - load.payload_offset, _APPLI_STACK_BYTES
    )


def _script(soc: Soc, name: str, origin: int, length: int, stack_bytes: int) -> str:
    return render(
        TEMPLATE,
        {
            "name": name,
            "origin": origin,
            "length": length,
            "vector_alignment": soc.vector_alignment,
            "stack_bytes": stack_bytes,
            "constants_alignment": _CONSTANTS_ALIGNMENT,
            "data_alignment": _DATA_ALIGNMENT,
            "variables_alignment": _VARIABLES_ALIGNMENT,
        },
    )
