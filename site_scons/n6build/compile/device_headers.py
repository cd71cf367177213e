"""Headers of CMSIS, device and HAL, which ST's runtime includes.

ST Edge AI Core does not have them.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.environment import CMSIS
from n6build.base.errors import N6Error
from n6build.base.files import is_file, is_folder, read_at_most, read_text
from n6build.base.paths import BOARDS, FIRMWARE
from n6build.base.walk import Tree, nearest, walk
from n6build.describe.hardware.aliases import non_secure_alias, secure_alias
from n6build.describe.hardware.soc import load_soc

# The device headers know the chip by this macro. The facts used here of its description hold for the whole family.
DEVICE = "STM32N657xx"
_CHIP = BOARDS / "soc" / "stm32n657.yaml"
_CONFIGURATION = "stm32n6xx_hal_conf.h"
# The FSBL of a project has its own configuration, which lacks the module for the NPU's cache.
_WITH_CACHE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+HAL_CACHEAXI_MODULE_ENABLED\b", re.MULTILINE)
_MOST_OF_A_HEADER = 1 << 20
# ST's runtime does not compile without these parts. Each header shows that its part is there.
_NEEDED = {
    "core_cm55.h": "CMSIS",
    "stm32n657xx.h": "the device",
    "stm32n6xx_hal.h": "the HAL",
    _CONFIGURATION: "its configuration",
}
# ST's cache driver calls this source of the HAL.
_HAL_CACHE = "stm32n6xx_hal_cacheaxi.c"
# Relocatable models use these headers when there are none of ST.
_STAND_IN = FIRMWARE / "st" / "device"
# This header of ll_aton includes the device's header.
_PLATFORM = "ll_aton_platform.h"
_DEVICE_HEADER = "stm32n6xx.h"
HINT = (
    f"set cmsis=FOLDER, or {CMSIS}, to STM32Cube_FW_N6 (ST's package for STM32CubeMX and STM32CubeIDE, also on its "
    f"own), a project for an STM32N6, or the include folders of CMSIS, device and HAL; cmsis=auto uses the project "
    f"of your working directory"
)


@dataclass(frozen=True)
class DeviceHeaders:
    """Headers of CMSIS, device and HAL; all fields are empty if none are named.

    Attributes:
        folders: Folders to search for headers.
        sources: Sources of the HAL.
        defines: Macros as NAME=value, for the replacement headers of `stand_in`.
    """

    folders: tuple[Path, ...] = ()
    sources: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()


def find_device_headers(named: Sequence[Path]) -> DeviceHeaders:
    """Find the headers that ST's runtime includes.

    Args:
        named: Include folders as they are, and roots of STM32Cube_FW_N6 or of a project, which are looked through.

    Raises:
        N6Error: N6-LLATON-005 for a folder that does not exist, or if one of the headers, or the HAL's cache driver, is in none
            of them. N6-FILE-007 for a folder with too many files.
    """
    if not named:
        return DeviceHeaders()
    found: dict[Path, None] = {}
    for folder in named:
        if not is_folder(folder):
            raise N6Error("N6-LLATON-005", "is not a folder", where=str(folder), hint=HINT)
        found.update(dict.fromkeys(_folders_of(folder)))
    headers, missing = _completed(tuple(found))
    if missing:
        raise N6Error("N6-LLATON-005", missing, where=os.pathsep.join(map(str, named)), hint=HINT)
    return headers


def headers_of_project(root: Path, runtime: Path) -> DeviceHeaders:
    """Find the headers of a project that are nearest to its copy of ST's runtime.

    The result is empty if the project lacks one of the headers.
    """
    if is_folder(root / "Utilities"):
        # ST Edge AI Core has thousands of files and no complete set of headers.
        return DeviceHeaders()
    headers, missing = _completed(tuple(headers_in(walk(root), runtime)))
    return DeviceHeaders() if missing else headers


def missing_header(folders: tuple[Path, ...]) -> str:
    """Return the first part that ST's runtime misses in these folders, or ""."""
    return _completed(folders)[1]


def _completed(folders: tuple[Path, ...]) -> tuple[DeviceHeaders, str]:
    """Return the headers with the HAL's source, and the missing part or ""."""
    for header, what in _NEEDED.items():
        if not any(is_file(folder / header) for folder in folders):
            return DeviceHeaders(), f"no folder has {header}, of {what}"
    drivers = [folder.parent / "Src" / _HAL_CACHE for folder in folders]
    sources = [path for path in drivers if is_file(path)][:1]
    if not sources:
        return DeviceHeaders(), f"no folder Inc of the HAL has Src/{_HAL_CACHE} beside it"
    return DeviceHeaders(folders, tuple(sources)), ""


def check_device_header(folders: Sequence[Path], flags: Sequence[str]) -> None:
    """Check that the device's header is there, before a firmware is compiled.

    Args:
        folders: Include folders of a firmware with ST's runtime.
        flags: Further flags of the compiler, which may name folders.

    Raises:
        N6Error: N6-LLATON-005 if the runtime includes the device's header and no folder has it.
    """
    platform = next((folder / _PLATFORM for folder in folders if is_file(folder / _PLATFORM)), None)
    if platform is None or f'"{_DEVICE_HEADER}"' not in read_text(platform):
        return
    named = [flag.removeprefix("-I") for flag in flags if flag.startswith("-I") and flag != "-I"]
    named += [after for flag, after in itertools.pairwise(flags) if flag in ("-I", "-isystem", "-idirafter")]
    if not any(is_file(folder / _DEVICE_HEADER) for folder in (*map(Path, named), *folders)):
        what = f"includes {_DEVICE_HEADER}, which is not part of ST Edge AI Core, and no device headers are set"
        raise N6Error("N6-LLATON-005", what, where=str(platform), hint=HINT)


def stand_in() -> DeviceHeaders:
    """Return n6build's own replacement for stm32n6xx.h, enough for relocatable models.

    Raises:
        N6Error: N6-SOC-00x, N6-YAML-00x.
    """
    base = load_soc(_CHIP).peripherals["NPU"].base
    assert base is not None
    bases = {"N6_NPU_SECURE": secure_alias(base), "N6_NPU_NON_SECURE": non_secure_alias(base)}
    return DeviceHeaders((_STAND_IN,), (), tuple(f"{name}=0x{address:08X}u" for name, address in bases.items()))


def _folders_of(folder: Path) -> Iterator[Path]:
    if any(is_file(folder / header) for header in _NEEDED):
        yield folder
        return
    inside = headers_in(walk(folder), folder)
    yield from inside or [folder]


def headers_in(tree: Tree, near: Path) -> list[Path]:
    """Return the folders of a project's headers; of several the nearest to `near`."""
    found = []
    for header in _NEEDED:
        files = tree.named(header)
        if header == _CONFIGURATION:
            files = tuple(filter(_drives_cache, files)) or files
        if (file := nearest(files, near)) is not None:
            found.append(file.parent)
    return list(dict.fromkeys(found))


def _drives_cache(configuration: Path) -> bool:
    return bool(_WITH_CACHE.search(read_at_most(configuration, _MOST_OF_A_HEADER).decode("utf-8", "replace")))
