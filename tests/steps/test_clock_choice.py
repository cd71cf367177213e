"""Clocks that n6build's FSBL starts.

Its own Appli runs at full speed; any other program finds the clocks of a reset.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.base.environment import read_environment
from n6build.describe.choices import choices_of
from n6build.describe.project_settings import resolve
from n6build.steps.job import job_of


def clock(folder: Path, **options: str) -> str:
    """Return the name of the clock profile."""
    for file in ("app.elf", "fsbl.bin"):
        (folder / file).touch()
    choices = choices_of(resolve({"board": "nucleo-n657", **options}, {}, folder), folder)
    return job_of(choices, read_environment(), None).board.clock.name


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "nominal"),
        ({"board": "stm32n6570-dk"}, "overdrive"),
        ({"appli": "app.elf"}, "hsi"),
        ({"appli": "app.elf", "fsbl": "fsbl.bin"}, "hsi"),
        ({"appli": "app.elf", "clock": "nominal"}, "nominal"),
        ({"appli": "app.elf", "mode": "max-speed"}, "nominal"),
        ({"appli": "app.elf", "clock": "hsi-only"}, "hsi-only"),
    ],
)
def test_a_program_that_sets_its_own_clocks_finds_those_of_a_reset(
    options: dict[str, str], name: str, tmp_path: Path
) -> None:
    """Programs of STM32CubeMX would stop otherwise.

    ST's HAL does not change a PLL that the CPU runs on.
    """
    assert clock(tmp_path, **options) == name
