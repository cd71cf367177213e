"""n6_soc.h: the chip's addresses, registers and bits as C constants, for the firmware and for the virtual board."""

from __future__ import annotations

import re

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.hardware.aliases import SECURE_BIT
from n6build.hardware.soc import CLEAR_ALIAS, SET_ALIAS, Soc, field_bits

TEMPLATE = TEMPLATES / "n6_soc.h.j2"
_NPU_UNIT_BYTES = 0x1000
# What a program has to set itself; everything else is in the blobs of the epoch controller.
_NPU_CONTROL = ("CLKCTRL", "INTCTRL", "BUSIF", "EPOCHCTRL")


def soc_header(soc: Soc) -> str:
    """The text of n6_soc.h."""
    return render(
        TEMPLATE,
        {
            "soc": soc,
            "set_offset": SET_ALIAS,
            "clear_offset": CLEAR_ALIAS,
            "secure_bit": SECURE_BIT,
            "field_bits": field_bits,
            "alias_name": _alias_name,
            "npu_unit_bytes": _NPU_UNIT_BYTES,
            "npu_control": _NPU_CONTROL,
        },
    )


def _alias_name(register: str, letter: str) -> str:
    """AHB5ENR -> AHB5ENSR or AHB5ENCR, APB4ENR2 -> APB4ENSR2: the reference manual's names of the set and clear aliases."""
    return re.sub(r"R(\d*)$", rf"{letter}R\1", register)
