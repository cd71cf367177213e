"""A project that STM32CubeMX wrote, as its author published it: FSBL and Appli, each a project of CMake."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from samples import sample

from end_to_end.hosts import NEWEST, Host

APPLI = """
set(ENV{STEDGEAI_CORE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/..)
set(FSBL ${CMAKE_CURRENT_SOURCE_DIR}/../FSBL/build/TestSTM32N6V3_FSBL.elf)
find_package(n6build CONFIG REQUIRED)
n6build_add_network(${CMAKE_PROJECT_NAME} MODEL X-CUBE-AI/App BOARD stm32n6570-dk OWN_RUNTIME
    OPTIONS cmsis=${CMAKE_CURRENT_SOURCE_DIR}/.. fsbl=${FSBL} DEPENDS ${FSBL})
n6build_image(${CMAKE_PROJECT_NAME} ALL)
n6build_flash(${CMAKE_PROJECT_NAME} OPTIONS probe=virtual)
"""
TOP = "\nadd_dependencies(STM32N6Example_Appli STM32N6Example_FSBL)\n"
LIBRARY = "NetworkRuntime1010_CM55_GCC.a"
# Of ST, and not here: it puts a header in front. n6build takes the ELF file.
SIGNING_TOOL = """#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in -bin) from=$2;; -o) to=$2;; esac; shift; done
cp "$from" "$to"
"""


class CubeMx(Host):
    """A copy of the project, with the compiler that it builds with on Debian."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "cmake")
        shutil.rmtree(self.root)
        self.root = folder / "cube"
        shutil.copytree(sample("projects/STM32N6Example"), self.root, copy_function=shutil.copyfile)
        tools = folder / "gcc"
        tools.mkdir()
        shutil.copy(sample("apps/gcc-debian12") / "arm-none-eabi-gcc", tools)
        (tools / "STM32_SigningTool_CLI").write_text(SIGNING_TOOL)
        (tools / "STM32_SigningTool_CLI").chmod(0o755)
        for tool in ("g++", "objcopy", "size", "ar", "ranlib"):
            found = shutil.which(f"arm-none-eabi-{tool}")
            assert found
            (tools / f"arm-none-eabi-{tool}").symlink_to(found)
        self.path.insert(0, str(tools))
        for file, lines in (("Appli/CMakeLists.txt", APPLI), ("CMakeLists.txt", TOP)):
            path = self.root / file
            path.write_text(path.read_text() + lines)
        libraries = self.root / "Middlewares/ST/AI/Lib"
        (libraries / "GCC/ARMCortexM55").mkdir(parents=True)
        shutil.copyfile(libraries / LIBRARY, libraries / "GCC/ARMCortexM55" / LIBRARY)


# In every run: tests/embed/test_cmake.py, with a project of projects, both forms of target_link_libraries and presets.
@pytest.mark.slow
def test_a_project_of_stm32cubemx_builds_and_is_flashed_with_its_fsbl(tmp_path: Path) -> None:
    cube = CubeMx(tmp_path)
    place = cube.call("n6build", "--cmake-dir").strip()
    cube.call(NEWEST, "--preset", "Debug", n6build_DIR=place)
    # Its weights are in the top folder, and not beside network.c.
    refused = cube.refused(NEWEST, "--build", "--preset", "Debug", "-j", "2", n6build_DIR=place)
    assert "network.c: error N6-NET-025: the weights of pool xSPI2 are missing: 367233 bytes at 0x71000000" in refused
    shutil.copyfile(
        cube.root / "network_atonbuf.xSPI2.raw", cube.root / "Appli/X-CUBE-AI/App/network_atonbuf.xSPI2.raw"
    )
    cube.call(NEWEST, "--build", "--preset", "Debug", "-j", "2", n6build_DIR=place)
    (manifest,) = cube.root.glob("Appli/build/n6build/*/*/*/flash_manifest.json")
    segments = json.loads(manifest.read_text())["segments"]
    assert [(each["name"], each["address"]) for each in segments] == [
        ("fsbl", 0x7000_0000),
        ("appli", 0x7010_0000),
        ("weights", 0x7100_0000),
    ]
    target = "TestSTM32N6V3_Appli_n6_flash"
    flashed = cube.call(NEWEST, "--build", "Appli/build", "--target", target, n6build_DIR=place)
    assert "Flashed stm32n6570-dk (virtual)" in flashed
