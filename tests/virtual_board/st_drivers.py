"""Programs around ST's own drivers of the chip and the discovery kit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firmware_build import bring_up, build
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.program_places import fsbl_ram, program_script
from samples import sample

from virtual_board.small_programs import PROGRAMS

BOARD = load_board("stm32n6570-dk")


def build_with_drivers(
    folder: Path, program: str, hal: Sequence[str], supported: Sequence[str], components: Sequence[str]
) -> Path:
    """Return the ELF file of a program with ST's HAL and board support package.

    Args:
        program: Name of a program's source, without its suffix.
        hal: Drivers of the HAL.
        supported: Other sources, below the sample with the drivers.
        components: Parts of the board whose headers the sources include.
    """
    audio = sample("apps/audio")
    drivers = audio / "Drivers"
    hal_folder, support = drivers / "STM32N6xx_HAL_Driver", drivers / "BSP"
    sources = [audio / name for name in supported]
    sources += [hal_folder / "Src" / f"stm32n6xx_hal_{name}.c" for name in hal]
    folders = [
        audio / "Projects/GS/Inc",
        hal_folder / "Inc",
        support / "STM32N6570-DK",
        *(support / "Components" / name for name in components),
        *(drivers / "CMSIS" / name for name in ("Device/ST/STM32N6xx/Include", "Include", "Core/Include")),
    ]
    flags = [*(f"-I{each}" for each in folders), "-DSTM32N657xx", "-DUSE_HAL_DRIVER", "-mcmse", "-w"]
    flags += ["-ffunction-sections", "-fdata-sections"]
    program_sources = [PROGRAMS / f"{program}.c", *sources, *bring_up()]
    return build(folder, program, program_sources, program_script(fsbl_ram(BOARD.soc)), flags, BOARD)
