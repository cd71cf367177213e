"""A stand-in for STM32_SigningTool_CLI.

It imitates releases before 2.21 and later ones.
"""

from __future__ import annotations

import stat
import sys
from pathlib import Path

STAND_IN = """#!{python}
import os, stat, sys
sys.path.insert(0, {library!r})
from n6build.describe.formats.boot_header import BinaryType
from n6build.place.image.boot_header import with_boot_header
VERSION = {version!r}
arguments = sys.argv[1:]
if "--version" in arguments:
    print("      STM32 Signing Tool v" + VERSION)
    raise SystemExit(0)
def value(name):
    return arguments[arguments.index(name) + 1]
out = value("-o")
if os.path.exists(out) and "-s" not in arguments:
    print("overwrite? (y/n)")
    raise SystemExit(1)
if "-align" in arguments and VERSION < "2.21":
    print("Error: unknown option -align")
    raise SystemExit(0)
if {fails!r}:
    print({fails!r})
    raise SystemExit({status})
with open({log!r}, "w") as log:
    log.write(" ".join(arguments))
payload = open(value("-bin"), "rb").read()
entry = int.from_bytes(payload[4:8], "little")
image = with_boot_header(payload, (entry >> 16 << 16) + 0x400, BinaryType[value("-t").upper()], 0x400)
if VERSION >= "2.21" and "-align" not in arguments:
    print("Warning: -align is not given")
    image = image[:0x240] + payload
open(out, "wb").write(image)
os.chmod(out, stat.S_IRUSR)
"""


def stand_in(folder: Path, version: str, fails: str = "", status: int = 1) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "STM32_SigningTool_CLI"
    library = str(Path(__file__).resolve().parents[1] / "site_scons")
    text = STAND_IN.format(
        python=sys.executable, library=library, version=version, fails=fails, status=status, log=str(folder / "log")
    )  # fmt: skip
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
