"""Folders of headers that ST's runtime needs and ST Edge AI Core lacks."""

from __future__ import annotations

from pathlib import Path

import pytest
from core_tree import make_core
from n6build.base.errors import N6Error
from n6build.cli.doctor import ToolStatus, examine
from n6build.compile.device_headers import DeviceHeaders, check_device_header, find_device_headers, stand_in
from n6build.compile.runtimes import own_runtime, st_runtime
from samples import sample

FILES = {
    "CMSIS/Core/Include": "core_cm55.h",
    "CMSIS/Device/ST/STM32N6xx/Include": "stm32n657xx.h",
    "STM32N6xx_HAL_Driver/Inc": "stm32n6xx_hal.h",
}
CACHE = "Drivers/STM32N6xx_HAL_Driver/Src/stm32n6xx_hal_cacheaxi.c"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for folder, name in FILES.items():
        (tmp_path / "Drivers" / folder).mkdir(parents=True)
        (tmp_path / "Drivers" / folder / name).touch()
    (tmp_path / CACHE).parent.mkdir()
    (tmp_path / CACHE).touch()
    (tmp_path / "Projects/Mine/Inc").mkdir(parents=True)
    (tmp_path / "Projects/Mine/Inc/stm32n6xx_hal_conf.h").touch()
    return tmp_path


def test_a_package_or_a_project_is_looked_through(package: Path) -> None:
    expected = (*(package / "Drivers" / folder for folder in FILES), package / "Projects/Mine/Inc")
    found = find_device_headers([package])
    assert found == DeviceHeaders(expected, (package / CACHE,))
    assert find_device_headers([package / "Drivers", package / "Projects/Mine/Inc"]) == found


def test_include_folders_are_taken_as_they_are(package: Path) -> None:
    folders = [*(package / "Drivers" / folder for folder in FILES), package / "Projects/Mine/Inc"]
    assert find_device_headers(folders).folders == tuple(folders)


def test_nothing_is_asked_for_where_nothing_is_named() -> None:
    assert find_device_headers([]) == DeviceHeaders()


@pytest.mark.parametrize(
    ("missing", "what"),
    [
        ("Projects/Mine/Inc/stm32n6xx_hal_conf.h", "no folder has stm32n6xx_hal_conf.h, of its configuration"),
        (CACHE, "no folder Inc of the HAL has Src/stm32n6xx_hal_cacheaxi.c beside it"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_compiled(package: Path, missing: str, what: str) -> None:
    with pytest.raises(
        N6Error, match="Driver: error N6-LLATON-005: is not a folder\n  hint: set cmsis=FOLDER, or N6BUILD_CMSIS"
    ):
        find_device_headers([package / "Driver"])
    (package / missing).unlink()
    with pytest.raises(N6Error, match=f"{package}: error N6-LLATON-005: {what}"):
        find_device_headers([package])


def status(*named: Path) -> ToolStatus:
    (found,) = [each for each in examine([str(folder) for folder in named]) if each.tool == "device headers"]
    return found


def test_scons_doctor_says_what_is_missing_and_how_to_get_it(package: Path) -> None:
    assert status(package).found == "in 4 folders"
    assert status().found is None
    assert status().fix.startswith("set cmsis=FOLDER, or N6BUILD_CMSIS, to STM32Cube_FW_N6")
    (package / CACHE).unlink()
    missing = status(package)
    assert missing.found is None
    assert "no folder Inc of the HAL has Src/stm32n6xx_hal_cacheaxi.c beside it" in missing.fix
    assert "STM32Cube_FW_N6" in missing.fix


def test_a_firmware_is_not_compiled_without_the_device_s_header(package: Path, tmp_path: Path) -> None:
    core = make_core(tmp_path / "core", (1, 1, 3, 8))
    check_device_header(own_runtime().foreign_folders, [])
    check_device_header(st_runtime(core).foreign_folders, [])
    platform = core / "Middlewares/ST/AI/Npu/ll_aton/ll_aton_platform.h"
    platform.write_text('#include "stm32n6xx.h"\n')
    with pytest.raises(N6Error, match="N6-LLATON-005: includes stm32n6xx.h, which is not part of ST Edge AI Core"):
        check_device_header(st_runtime(core).foreign_folders, ["-O2"])
    mine = package / "Drivers/CMSIS/Device/ST/STM32N6xx/Include"
    (mine / "stm32n6xx.h").touch()
    check_device_header(st_runtime(core, (package,)).foreign_folders, [])
    # A host project may provide the headers.
    check_device_header(st_runtime(core).foreign_folders, ["-O2", f"-I{mine}"])
    check_device_header(st_runtime(core).foreign_folders, ["-isystem", str(mine)])


def test_only_models_get_the_stand_in_and_only_where_no_headers_are_named(package: Path, tmp_path: Path) -> None:
    core = make_core(tmp_path / "core", (1, 1, 3, 8))
    without, with_headers = st_runtime(core), st_runtime(core, (package,))
    assert without.reloc is not None
    assert with_headers.reloc is not None
    assert without.reloc.foreign_folders == stand_in().folders
    assert {"N6_NPU_SECURE=0x580E0000u", "N6_NPU_NON_SECURE=0x480E0000u"} <= set(without.reloc.defines)
    assert with_headers.reloc.foreign_folders == ()
    assert stand_in().folders[0] not in without.foreign_folders
    assert not any(define.startswith("N6_NPU") for define in (*without.defines, *with_headers.reloc.defines))


def test_st_s_own_application_has_them_all() -> None:
    found = find_device_headers([sample("apps/audio")])
    assert [folder.name for folder in found.folders] == ["Include", "Include", "Inc", "Inc"]
    assert [source.name for source in found.sources] == ["stm32n6xx_hal_cacheaxi.c"]
