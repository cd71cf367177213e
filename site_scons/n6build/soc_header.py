"""n6_soc.h: the chip's addresses, registers and bits as C constants, for the firmware and for the virtual board."""

from __future__ import annotations

from n6build.paths import TEMPLATES
from n6build.soc import CLEAR_ALIAS, SET_ALIAS, Soc
from n6build.templates import render

TEMPLATE = TEMPLATES / "n6_soc.h.j2"


def soc_header(soc: Soc) -> str:
    return render(TEMPLATE, {"soc": soc, "set_offset": SET_ALIAS, "clear_offset": CLEAR_ALIAS})
