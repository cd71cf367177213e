"""n6_soc.h: the chip's addresses, registers and bits as C constants, for the firmware and for the virtual board.

python -m n6build.soc_header boards/soc/stm32n657.yaml > n6_soc.h
"""

from __future__ import annotations

import sys
from pathlib import Path

from n6build.paths import TEMPLATES
from n6build.soc import Soc, load_soc
from n6build.templates import render

TEMPLATE = TEMPLATES / "n6_soc.h.j2"


def soc_header(soc: Soc) -> str:
    return render(TEMPLATE, {"soc": soc})


if __name__ == "__main__":
    sys.stdout.write(soc_header(load_soc(Path(sys.argv[1]))))
