"""Where ST's runtime finds the headers that ST Edge AI Core does not have."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.network.device_headers import include_folders
from samples import sample

FILES = {
    "CMSIS/Core/Include": "core_cm55.h",
    "CMSIS/Device/ST/STM32N6xx/Include": "stm32n657xx.h",
    "STM32N6xx_HAL_Driver/Inc": "stm32n6xx_hal.h",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for folder, name in FILES.items():
        (tmp_path / "Drivers" / folder).mkdir(parents=True)
        (tmp_path / "Drivers" / folder / name).touch()
    (tmp_path / "Projects/Mine/Inc").mkdir(parents=True)
    (tmp_path / "Projects/Mine/Inc/stm32n6xx_hal_conf.h").touch()
    return tmp_path


def test_a_package_or_a_project_is_looked_through(package: Path) -> None:
    expected = (*(package / "Drivers" / folder for folder in FILES), package / "Projects/Mine/Inc")
    assert include_folders([package]) == expected
    assert include_folders([package / "Drivers", package / "Projects/Mine/Inc"]) == expected


def test_include_folders_are_taken_as_they_are(package: Path) -> None:
    folders = [*(package / "Drivers" / folder for folder in FILES), package / "Projects/Mine/Inc"]
    assert include_folders(folders) == tuple(folders)


def test_nothing_is_asked_for_where_nothing_is_named() -> None:
    assert include_folders([]) == ()


def test_what_is_missing_is_said_before_anything_is_compiled(package: Path) -> None:
    with pytest.raises(N6Error, match="N6-LLATON-005: is not a folder\n  hint: N6BUILD_CMSIS names STM32Cube_FW_N6"):
        include_folders([package / "Driver"])
    (package / "Projects/Mine/Inc/stm32n6xx_hal_conf.h").unlink()
    with pytest.raises(N6Error, match=r"N6-LLATON-005: no folder has stm32n6xx_hal_conf.h, of its configuration"):
        include_folders([package])


def test_st_s_own_application_has_them_all() -> None:
    found = include_folders([sample("apps/audio")])
    assert [folder.name for folder in found] == ["Include", "Include", "Inc", "Inc"]
