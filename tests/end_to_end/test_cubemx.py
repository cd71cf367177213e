"""Projects of STM32CubeMX, as their authors published them.

FSBL and Applis are separate CMake projects.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from samples import sample

from end_to_end.hosts import NEWEST, Host

# ST's tool, which puts a header in front of the program, is not available here. n6build reads the ELF file.
SIGNING_TOOL = """#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in -bin) from=$2;; -o) to=$2;; esac; shift; done
cp "$from" "$to"
"""


class CubeMx(Host):
    """A copy of a project, with the compiler that builds it on Debian."""

    def __init__(self, folder: Path, project: str) -> None:
        super().__init__(folder, "cmake")
        shutil.rmtree(self.root)
        self.root = folder / "cube"
        shutil.copytree(sample(project), self.root, copy_function=shutil.copyfile)
        for path in (self.root, *self.root.rglob("*")):
            path.chmod(0o755)
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


# In every run: tests/embed/test_cmake.py, with a project of projects, both forms of target_link_libraries and presets.
@pytest.mark.slow
def test_a_project_of_stm32cubemx_builds_and_is_flashed_with_its_fsbl(tmp_path: Path) -> None:
    cube = CubeMx(tmp_path, "projects/STM32N6Example")
    adopted = cube.call("n6build", "adopt", ".")
    assert "Adopted Appli/CMakeLists.txt, 5 lines added at the end" in adopted
    # The weights are in the top folder, not beside network.c.
    assert "Link Appli/n6build-network/network_atonbuf.xSPI2.raw, to network_atonbuf.xSPI2.raw" in adopted
    cube.call(NEWEST, "--preset", "Debug")
    cube.call(NEWEST, "--build", "--preset", "Debug", "-j", "2")
    cube.call(NEWEST, "--build", "Appli/build", "--target", "TestSTM32N6V3_Appli_n6_image")
    (manifest,) = cube.root.glob("Appli/build/n6build/*/*/*/flash_manifest.json")
    segments = json.loads(manifest.read_text())["segments"]
    assert [(each["name"], each["address"]) for each in segments] == [
        ("fsbl", 0x7000_0000),
        ("appli", 0x7010_0000),
        ("weights", 0x7100_0000),
    ]
    target = "TestSTM32N6V3_Appli_n6_flash"
    flashed = cube.call(NEWEST, "--build", "Appli/build", "--target", target, N6BUILD_PROBE="virtual")
    assert "Flashed stm32n6570-dk (virtual)" in flashed


IN_FRONT = """
execute_process(COMMAND n6build --cmake-dir OUTPUT_VARIABLE n6build_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(n6build CONFIG REQUIRED)
n6build_add_network(CubeMX_AppliSecure MODEL keyword BOARD nucleo-n657)
n6build_image(CubeMX_AppliSecure ALL)
"""
USE = """#include "n6_network.h"
static signed char samples[4096];
int use_network(void)
{
    n6_network_result_t opened = n6_network_open();
    return opened.why[0] == 0 && n6_network_run(0, samples, n6_network_input_bytes(0));
}
"""


# In every run: tests/embed/test_cmake.py, with the lines in front of project().
@pytest.mark.slow
def test_an_appli_of_stm32cubemx_is_linked_with_a_network_of_n6build(tmp_path: Path) -> None:
    cube = CubeMx(tmp_path, "projects/stm32n6_nucleo_base")
    appli = cube.root / "AppliSecure"
    path = appli / "CMakeLists.txt"
    first, rest = path.read_text().split("\n", 1)
    path.write_text(first + IN_FRONT + rest.replace("# Add user sources here", "Core/Src/use_network.c", 1))
    (appli / "Core/Src/use_network.c").write_text(USE)
    main = appli / "Core/Src/main.c"
    begin = "/* USER CODE BEGIN 2 */"
    main.write_text(main.read_text().replace(begin, f"{begin}\n  extern int use_network(void);\n  use_network();\n", 1))
    cube.root = appli
    cube.call(NEWEST, "--preset", "Debug")
    built = cube.call(NEWEST, "--build", "--preset", "Debug", "-j", "2")
    assert "Backend reference" in built and "Checks 16 passed" in built


# In every run: tests/virtual_board has a test of each finding.
@pytest.mark.slow
def test_mistakes_of_an_appli_of_stm32cubemx_are_reported_by_running_it(tmp_path: Path) -> None:
    """The Appli is as STM32CubeMX writes it.

    The clocks of the RAM banks run, the banks are off, and RIF is closed.
    """
    cube = CubeMx(tmp_path, "projects/STM32N6Example")
    lists = cube.root / "Appli/CMakeLists.txt"
    lists.write_text(lists.read_text().replace("STM32N657XX_ROMxspi2.ld", "STM32N657XX_LRUN.ld"))
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={cube.root}/gcc-arm-none-eabi.cmake"
    cube.call(NEWEST, "-S", "Appli", "-B", "lrun", "-G", "Ninja", toolchain)
    cube.call(NEWEST, "--build", "lrun")
    words = ("board=nucleo-n657", "probe=virtual", "appli=lrun/TestSTM32N6V3_Appli.elf", "until=text:Hello World")
    weights = "data=network_atonbuf.xSPI2.raw@0x71000000"
    ran = cube.call("n6build", "flash", "run", *words, weights)
    assert "in LL_ATON_EnableUnits_Init(): The NPU uses AXISRAM5 at 0x342e0000, which is off (epoch 0)" in ran
    assert "RIF denies the access (RIFSC RIMC_ATTR1, SECCFGR3, PRIVCFGR3)" in ran
    assert "Read of AXISRAM5 at 0x342e0410, which is off (RAMCFG CR SRAMSD is 1)" in ran
    assert "reached text 'Hello World'" in ran
