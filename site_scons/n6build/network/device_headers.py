"""Headers of CMSIS, device and HAL, which ST's runtime includes and ST Edge AI Core does not have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from n6build.base.environment import CMSIS
from n6build.base.errors import N6Error
from n6build.base.files import files_in, is_file, is_folder

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


def include_folders(named: Sequence[Path]) -> tuple[Path, ...]:
    """named: include folders as they are, and roots of STM32Cube_FW_N6 or of a project, which are looked through.

    Raises N6-LLATON-005 for a folder that does not exist, or if one of the headers is in none of them.
    """
    found: dict[Path, None] = {}
    for folder in named:
        if not is_folder(folder):
            raise N6Error("N6-LLATON-005", "is not a folder", where=f"{CMSIS}: {folder}", hint=_hint())
        found.update(dict.fromkeys(_folders_of(folder)))
    for header, what in _NEEDED.items() if named else ():
        if not any(is_file(folder / header) for folder in found):
            raise N6Error("N6-LLATON-005", f"no folder has {header}, of {what}", where=CMSIS, hint=_hint())
    return tuple(found)


def _hint() -> str:
    return f"{CMSIS} names STM32Cube_FW_N6 or a project for an STM32N6, or the include folders of CMSIS, device and HAL"


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
