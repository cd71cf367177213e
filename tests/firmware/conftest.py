"""Fixtures with the real FSBL, ready for a NOR."""

from __future__ import annotations

import pytest
from firmware_build import BOARD, bring_up, build, image_of
from n6build.base.paths import FIRMWARE
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.program_places import fsbl_ram, program_script


@pytest.fixture(scope="session")
def fsbl(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    sources = [*sorted((FIRMWARE / "fsbl").glob("*.c")), *bring_up()]
    elf = build(tmp_path_factory.mktemp("fsbl"), "fsbl", sources, program_script(fsbl_ram(BOARD.soc)))
    return image_of(elf, BinaryType.FSBL)
