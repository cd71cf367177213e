"""n6_soc.h: the chip's addresses, registers and bits as C constants, for the firmware and for the virtual board."""

from __future__ import annotations

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.hardware.aliases import SECURE_BIT
from n6build.hardware.soc import CLEAR_ALIAS, SET_ALIAS, Soc

TEMPLATE = TEMPLATES / "n6_soc.h.j2"


def soc_header(soc: Soc) -> str:
    return render(
        TEMPLATE, {"soc": soc, "set_offset": SET_ALIAS, "clear_offset": CLEAR_ALIAS, "secure_bit": SECURE_BIT}
    )
