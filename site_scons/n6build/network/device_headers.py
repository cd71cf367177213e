"""Headers of CMSIS, device and HAL, which ST's runtime includes and ST Edge AI Core does not have."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.environment import CMSIS
from n6build.base.errors import N6Error
from n6build.base.files import files_in, is_file, is_folder, read_text
from n6build.base.paths import BOARDS, FIRMWARE
from n6build.hardware.aliases import non_secure_alias, secure_alias
from n6build.hardware.soc import load_soc

# By which the device headers know the chip. What is taken of its description here is the same for the whole family.
DEVICE = "STM32N657xx"
_CHIP = BOARDS / "soc" / "stm32n657.yaml"
# In STM32Cube_FW_N6, and in the projects that STM32CubeMX makes, below one of these.
_DRIVERS = ("Drivers", ".")
_INCLUDES = (
    "CMSIS/Core/Include",
    "CMSIS/Include",
    "CMSIS/Device/ST/STM32N6xx/Include",
    "STM32N6xx_HAL_Driver/Inc",
)
_CONFIGURATION = "stm32n6xx_hal_conf.h"
# As deep as projects have their own headers: Projects/GS/Inc, Appli/Core/Inc.
_DEPTH = 4
# What a runtime of ST cannot be compiled without, by a header that shows it.
_NEEDED = {
    "core_cm55.h": "CMSIS",
    "stm32n657xx.h": "the device",
    "stm32n6xx_hal.h": "the HAL",
    _CONFIGURATION: "its configuration",
}
# What ST's cache driver calls of the HAL, beside its headers.
_HAL_CACHE = "stm32n6xx_hal_cacheaxi.c"
# Without headers of ST's, for relocatable models.
_STAND_IN = FIRMWARE / "st" / "device"
# Of ll_aton, which includes that of the device.
_PLATFORM = "ll_aton_platform.h"
_DEVICE_HEADER = "stm32n6xx.h"
HINT = (
    f"cmsis=FOLDER, or {CMSIS}, names STM32Cube_FW_N6 (ST's package for STM32CubeMX and STM32CubeIDE, also on its own), a "
    "project for an STM32N6, or the include folders of CMSIS, device and HAL"
)


@dataclass(frozen=True)
class DeviceHeaders:
    """folders: to search for headers. sources: of the HAL. defines: NAME=value, of the stand-in. All empty where none are
    named."""

    folders: tuple[Path, ...] = ()
    sources: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()


def find_device_headers(named: Sequence[Path]) -> DeviceHeaders:
    """named: include folders as they are, and roots of STM32Cube_FW_N6 or of a project, which are looked through.

    Raises N6-LLATON-005 for a folder that does not exist, or if one of the headers, or the HAL's cache driver, is in none of
    them.
    """
    if not named:
        return DeviceHeaders()
    found: dict[Path, None] = {}
    for folder in named:
        if not is_folder(folder):
            raise N6Error("N6-LLATON-005", "is not a folder", where=str(folder), hint=HINT)
        found.update(dict.fromkeys(_folders_of(folder)))
    where = os.pathsep.join(map(str, named))
    for header, what in _NEEDED.items():
        if not any(is_file(folder / header) for folder in found):
            raise N6Error("N6-LLATON-005", f"no folder has {header}, of {what}", where=where, hint=HINT)
    drivers = [folder.parent / "Src" / _HAL_CACHE for folder in found]
    sources = [path for path in drivers if is_file(path)][:1]
    if not sources:
        what = f"no folder Inc has Src/{_HAL_CACHE} beside it, of the HAL"
        raise N6Error("N6-LLATON-005", what, where=where, hint=HINT)
    return DeviceHeaders(tuple(found), tuple(sources))


def check_device_header(folders: Sequence[Path], flags: Sequence[str]) -> None:
    """Before a firmware is compiled with ST's runtime. folders: of its headers. flags: further ones of the compiler, which may
    name folders.

    Raises N6-LLATON-005 where the runtime includes the device's header, and it is in no folder.
    """
    platform = next((folder / _PLATFORM for folder in folders if is_file(folder / _PLATFORM)), None)
    if platform is None or f'"{_DEVICE_HEADER}"' not in read_text(platform):
        return
    named = [flag.removeprefix("-I") for flag in flags if flag.startswith("-I") and flag != "-I"]
    named += [after for flag, after in itertools.pairwise(flags) if flag in ("-I", "-isystem", "-idirafter")]
    if not any(is_file(folder / _DEVICE_HEADER) for folder in (*map(Path, named), *folders)):
        what = f"includes {_DEVICE_HEADER}, which ST Edge AI Core does not have: no device headers are named"
        raise N6Error("N6-LLATON-005", what, where=str(platform), hint=HINT)


def stand_in() -> DeviceHeaders:
    """As much of stm32n6xx.h as relocatable models ask for, in our own words. Raises N6-SOC-00x, N6-YAML-00x."""
    base = load_soc(_CHIP).peripherals["NPU"].base
    assert base is not None
    bases = {"N6_NPU_SECURE": secure_alias(base), "N6_NPU_NON_SECURE": non_secure_alias(base)}
    return DeviceHeaders((_STAND_IN,), (), tuple(f"{name}=0x{address:08X}u" for name, address in bases.items()))


def _folders_of(folder: Path) -> Iterator[Path]:
    root = next((folder / name for name in _DRIVERS if is_folder(folder / name / "CMSIS")), None)
    if root is None:
        yield folder
        return
    yield from (root / name for name in _INCLUDES if is_folder(root / name))
    if configuration := _configuration(folder, _DEPTH):
        yield configuration


def _configuration(folder: Path, depth: int) -> Path | None:
    """The first folder, by name, with the HAL's configuration."""
    if is_file(folder / _CONFIGURATION):
        return folder
    if depth:
        for inner in files_in(folder):
            if is_folder(inner) and not inner.is_symlink() and (found := _configuration(inner, depth - 1)):
                return found
    return None
