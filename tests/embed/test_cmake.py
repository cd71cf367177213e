"""n6buildConfig.cmake in CMake, with a fake n6build.

The tests cover the forms of the host's lines and the linked libraries.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import called
import pytest
from n6build.cli.host_files import CMAKE_FOLDER

# tools/setup.py installs both.
_VENV = Path(sys.prefix)
NEWEST, OLDEST = _VENV / "bin/cmake", _VENV / "oldest/cmake/cmake/data/bin/cmake"
STAND_IN = f"""#!/bin/sh
case "$1" in
    --cmake-dir) echo "{CMAKE_FOLDER}"; exit;;
    --include-dir) echo /include; exit;;
    --version) echo "n6build 0.0"; exit;;
    embed) mkdir -p "$(dirname "$5")"; printf 'echo "$@" >> "%s/calls"\\n' "$PWD" > "$5"; exit;;
esac
"""
TOOLCHAIN = """
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_C_COMPILER_WORKS TRUE)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m55 -mfloat-abi=hard --specs=nosys.specs")
"""
FIND = "find_package(n6build CONFIG REQUIRED)"
ADD = "n6build_add_network(app MODEL net BOARD b OPTIONS until=text:x\\ y)"
MAKE = "add_executable(app)\ntarget_sources(app PRIVATE main.c)"
PLAIN, KEYWORD = "target_link_libraries(app m)", "target_link_libraries(app PRIVATE m)"
USES = "n6build_image(app ALL)\nn6build_flash(app OPTIONS probe=virtual)\nn6build_run(app)"
PROJECT = "project(app C)"


@pytest.fixture
def host(tmp_path: Path) -> Path:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "toolchain.cmake").write_text(TOOLCHAIN)
    (tmp_path / "n6build").write_text(STAND_IN)
    (tmp_path / "n6build").chmod(0o755)
    return tmp_path


def configured(host: Path, *lines: str, cmake: Path = NEWEST) -> str:
    """Return Ninja's rules for a CMakeLists.txt of these lines."""
    (host / "CMakeLists.txt").write_text("\n".join(("cmake_minimum_required(VERSION 3.21)", *lines)) + "\n")
    call(host, cmake, "-S", ".", "-B", "build", "-G", "Ninja", "--toolchain", "toolchain.cmake")
    return (host / "build/build.ninja").read_text()


def call(host: Path, *command: str | Path) -> str:
    path = f"{host}{os.pathsep}{_VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    result = called.call(*command, cwd=host, PATH=path, HOME=str(host), n6build_DIR=str(CMAKE_FOLDER))
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def linked(rules: str, target: str = "app") -> list[str]:
    """Return the names of the libraries in the link of a target."""
    rule = re.search(rf"^build {target}: .*?(?=^build |\Z)", rules, re.MULTILINE | re.DOTALL)
    assert rule
    libraries = re.search(r"^  LINK_LIBRARIES = (.*)$", rule[0], re.MULTILINE)
    return [word.rpartition("/")[2] for word in libraries[1].split()] if libraries else []


# Every run uses the newest CMake.
@pytest.mark.parametrize("cmake", [NEWEST, pytest.param(OLDEST, marks=pytest.mark.slow)], ids=["newest", "oldest"])
@pytest.mark.parametrize(
    "lines",
    [
        (PROJECT, MAKE, PLAIN, FIND, ADD, USES),
        (PROJECT, MAKE, KEYWORD, FIND, ADD, USES),
        (PROJECT, MAKE, FIND, ADD, USES, PLAIN),
        (PROJECT, FIND, USES, ADD, MAKE, KEYWORD),
        (FIND, ADD, USES, PROJECT, MAKE, PLAIN),
        (FIND, USES, PROJECT, PLAIN.replace("target", "#target"), MAKE, ADD),
    ],
    ids=["plain", "keyword", "plain behind", "image in front", "all in front of project", "libraries nowhere"],
)
def test_lines_in_any_order_and_both_forms_link_the_networks(host: Path, lines: tuple[str, ...], cmake: Path) -> None:
    rules = configured(host, *lines, cmake=cmake)
    found = linked(rules)
    assert [name for name in found if name != "-lm"] == ["libn6networks.a", "n6_networks.ld"]
    assert "m" in "".join(lines) and ("-lm" in found) == (PLAIN in lines or KEYWORD in lines)
    for name in ("library", "image", "flash", "run"):
        assert f"build app_n6_{name}: phony" in rules
    assert r"until=text:x\ y" in rules or '"until=text:x y"' in rules


# Makes the library, and a header of file `header` if that has changed.
MAKING = """
cd n6build/app && mkdir -p include .n6build
[ -f libn6networks.a ] || { printf '!<arch>\\n' > libn6networks.a; : > n6_networks.ld; }
cmp -s ../../../header include/n6_made.h || {
    cp ../../../header include/n6_made.h
    echo '#include "n6_made.h"' > include/n6_decoder.h
}
[ -f .n6build/host-library ] || : > .n6build/host-library
"""


@pytest.mark.parametrize("cmake", [NEWEST, OLDEST], ids=["newest", "oldest"])
def test_a_source_is_compiled_behind_the_headers_and_again_in_the_build_that_changes_one(
    host: Path, cmake: Path
) -> None:
    (host / "main.c").write_text('#include "n6_decoder.h"\nint main(void) { return SCORE; }\n')
    (host / "header").write_text("#define SCORE 6\n")
    configured(host, PROJECT, MAKE, PLAIN, FIND, ADD, cmake=cmake)
    (host / "build/n6build/app.sh").write_text(MAKING)
    assert "main.c" in call(host, cmake, "--build", "build")
    assert "main.c" not in call(host, cmake, "--build", "build")
    (host / "header").write_text("#define SCORE 8\n")
    assert "main.c" in call(host, cmake, "--build", "build")
    assert "main.c" not in call(host, cmake, "--build", "build")


def test_several_programs_have_a_network_each(host: Path) -> None:
    rules = configured(
        host, PROJECT, FIND, MAKE, PLAIN, ADD, MAKE.replace("app", "other"), ADD.replace("(app", "(other"), USES
    )
    assert "n6build/other/libn6networks.a" in rules
    assert linked(rules, "other") == linked(rules)[1:] == ["libn6networks.a", "n6_networks.ld"]


def test_a_program_with_a_runtime_of_its_own_links_nothing_and_is_asked_about_in_each_build(host: Path) -> None:
    rules = configured(host, PROJECT, MAKE, PLAIN, FIND, ADD.replace(")", " OWN_RUNTIME)"), USES)
    assert linked(rules) == ["-lm"]
    assert "libn6networks" not in rules
    for _ in range(2):
        call(host, NEWEST, "--build", "build")
    calls = (host / "build/calls").read_text().splitlines()
    assert [words.split()[:2] for words in calls] == [["build", "--build"]] * 2
    assert (host / "build/n6build/app/program/app.elf").exists()


def test_a_preset_and_a_project_of_projects_find_n6build_by_the_environment(host: Path) -> None:
    """STM32CubeMX writes such projects.

    FSBL and Appli are projects of their own, which the top one builds.
    """
    appli = host / "Appli"
    appli.mkdir()
    (appli / "CMakeLists.txt").write_text(
        "\n".join(
            (
                "cmake_minimum_required(VERSION 3.21)",
                *("set(CMAKE_PROJECT_NAME app)", "project(${CMAKE_PROJECT_NAME} C)"),
                *(MAKE.replace("main.c", "../main.c"), PLAIN, FIND, ADD.replace(")", " OWN_RUNTIME)"), USES),
            )
        )
    )
    (host / "CMakePresets.json").write_text(
        '{"version": 3, "configurePresets": [{"name": "Debug", "generator": "Ninja", "binaryDir": "${sourceDir}/build/Debug",'
        ' "toolchainFile": "${sourceDir}/toolchain.cmake"}], "buildPresets": [{"name": "Debug", "configurePreset": "Debug"}]}'
    )
    (host / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(top C)\ninclude(ExternalProject)\n"
        "ExternalProject_Add(Appli SOURCE_DIR ${CMAKE_SOURCE_DIR}/Appli BINARY_DIR ${CMAKE_SOURCE_DIR}/Appli/build\n"
        '    CMAKE_ARGS -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE} BUILD_ALWAYS true INSTALL_COMMAND "")\n'
    )
    call(host, NEWEST, "--preset", "Debug")
    call(host, NEWEST, "--build", "--preset", "Debug")
    assert (appli / "build/calls").read_text().startswith("build --build n6build/app ")
