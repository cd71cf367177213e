"""The parts that are found in a project, and reports of missing ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from n6build.adopt.programs import read_platformio
from n6build.adopt.project import read_project
from n6build.adopt.table import rows_of
from n6build.base.errors import N6Error

from adopt.trees import (
    CORE,
    IN_FLASH,
    MAKEFILE,
    WEIGHTS,
    cmake_project,
    cube_project,
    make_project,
    put,
    with_network,
)


def shown(root: Path) -> list[str]:
    return [f"{row.state} {row.what.strip()} {row.text}" for row in rows_of(read_project(root))]


@pytest.mark.parametrize(
    ("lay", "kind", "board"),
    [
        (make_project, "make", "stm32n6570-dk"),
        (cmake_project, "cmake", "stm32n6570-dk"),
        # ST's own project for the Nucleo names the other board in its settings: the board support package decides.
        (cube_project, "cubeide", "nucleo-n657"),
    ],
)
def test_a_project_of_each_kind(tmp_path: Path, lay: Callable[[Path], Path], kind: str, board: str) -> None:
    folder = lay(tmp_path)
    (application,) = read_project(tmp_path).applications
    program = application.program
    assert (program.kind, program.folder) == (kind, folder)
    assert program.linker_script == folder / "app.ld"
    assert program.starts_at == 0x3400_0400
    assert application.board is not None
    assert application.board.name == board
    (network,) = application.networks
    assert network.version == CORE.ll_aton
    assert (network.elsewhere, network.missing, network.fault) == ((), (), "")
    assert [each.file.name for each in network.weights] == [WEIGHTS]


def test_the_table_names_what_there_is(tmp_path: Path) -> None:
    make_project(tmp_path)
    put(tmp_path / "Model/net.tflite")
    put(tmp_path / "Binary/ai_fsbl.hex")
    rows = shown(tmp_path)
    assert "found runtime ST Edge AI Core 4.0.1 (ll_aton 1.1.3-275) in Middlewares/AI_Runtime/Npu/ll_aton" in rows
    assert any(row.startswith("found library Middlewares/AI_Runtime/Lib/GCC/ARMCortexM55/") for row in rows)
    assert "found CMSIS, HAL STM32Cube_FW_N6/Drivers/STM32N6xx_HAL_Driver/Inc" in rows
    assert "found linker script Application/STM32N6570-DK/app.ld starts at 0x34000400" in rows
    assert "found weights Model/network_atonbuf.xSPI2.raw" in rows
    assert "found model Model/net.tflite" in rows
    assert "found FSBL Binary/ai_fsbl.hex, an image" in rows
    assert "unfit flag -fcyclomatic-complexity" in rows
    assert not [row for row in rows if row.startswith("missing")]


def test_what_is_missing_has_a_reason(tmp_path: Path) -> None:
    put(tmp_path / "Makefile", "a.elf: a.o\n")
    rows = [row for row in rows_of(read_project(tmp_path)) if row.state == "missing"]
    assert {row.what.strip() for row in rows} == {
        *("runtime", "CMSIS, HAL", "board", "linker script", "FSBL", "network", "model")
    }
    assert all(row.why for row in rows)


@pytest.mark.parametrize(
    ("weights", "state"),
    [
        (None, "missing weights network_atonbuf.xSPI2.raw, .bin or .hex"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n",
            "unfit weights Model/" + WEIGHTS + " is a Git LFS pointer",
        ),
        (b"", "unfit weights Model/" + WEIGHTS + " is empty"),
    ],
)
def test_weights_that_cannot_be_used(tmp_path: Path, weights: bytes | None, state: str) -> None:
    make_project(tmp_path)
    file = tmp_path / "Model" / WEIGHTS
    file.unlink()
    if weights is not None:
        file.write_bytes(weights)
    assert any(row.startswith(state) for row in shown(tmp_path))


@pytest.mark.parametrize("name", [WEIGHTS, "network_data.xSPI2.bin", "network_atonbuf.xSPI2.c"])
def test_weights_in_another_folder_are_found(tmp_path: Path, name: str) -> None:
    make_project(tmp_path)
    (tmp_path / "Model" / WEIGHTS).unlink()
    put(tmp_path / "data" / name, b"\1")
    (network,) = read_project(tmp_path).networks
    assert [each.file for each in network.elsewhere] == [tmp_path / "data" / name]
    # Files beside another network of this name belong to that network.
    with_network(tmp_path / "data", None)
    found = {each.source.parent.name: each for each in read_project(tmp_path).networks}
    assert found["Model"].missing == ("xSPI2",)


def test_a_network_for_another_release_than_the_runtime(tmp_path: Path) -> None:
    make_project(tmp_path)
    source = tmp_path / "Model/network.c"
    source.write_text(re.sub(r"(VERSION_DEV\s*!=\s*)275", r"\g<1>31", source.read_text()))
    assert any(row.startswith("unfit version asks for an unknown release") for row in shown(tmp_path))


def test_a_header_of_blobs_that_is_missing(tmp_path: Path) -> None:
    make_project(tmp_path)
    source = tmp_path / "Model/network.c"
    source.write_text('#include "network_ecblobs.h"\n' + source.read_text())
    assert any("network_ecblobs.h is missing beside it" in row for row in shown(tmp_path))
    put(tmp_path / "Model/network_ecblobs.h")
    assert not any("network_ecblobs.h is missing beside it" in row for row in shown(tmp_path))


def test_the_fsbl_of_a_project_starts_what_executes_in_flash(tmp_path: Path) -> None:
    cmake_project(tmp_path, IN_FLASH)
    project = read_project(tmp_path)
    (application,) = project.applications
    assert application.starts_in_flash
    assert application.fsbl == tmp_path / "FSBL/build/Thing_FSBL.elf"
    assert [program.folder.name for program in project.fsbls] == ["FSBL"]


def test_scripts_of_other_things_are_no_programs(tmp_path: Path) -> None:
    make_project(tmp_path)
    put(tmp_path / "tests/CMakeLists.txt", "add_executable(unit_tests test.c)\n")
    put(tmp_path / "lib/CMakeLists.txt", "add_library(thing a.c)\n")
    put(tmp_path / "lib/Makefile", "lib.a: a.o\n\tar rc $@\n")
    put(tmp_path / "build/Makefile", MAKEFILE)
    put(tmp_path / "Drivers/CMSIS/DSP/Makefile", MAKEFILE)
    assert len(read_project(tmp_path).applications) == 1


def test_several_programs_in_one_makefile(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    put(folder / "rtos.mk", "build/rtos.elf: a.o\n\t$(CC)\n")
    text = (folder / "Makefile").read_text()
    (folder / "Makefile").write_text(f"include rtos.mk\n{text}")
    (application,) = read_project(tmp_path).applications
    assert application.program.others == ("build/rtos.elf",)


def test_the_only_network_is_of_a_script_that_names_none_but_never_of_one_that_names_another(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    text = (folder / "Makefile").read_text()
    for named, count in (("$(wildcard ../../Model/*.c)", 1), ("../../Model/STM32N6570-DK/network.c", 0)):
        (folder / "Makefile").write_text(text.replace("../../Model/network.c", named))
        (application,) = read_project(tmp_path).applications
        assert len(application.networks) == count


def test_platformio_and_scons(tmp_path: Path) -> None:
    text = "[env:n6]\nboard = nucleo_n657x0_q\nboard_build.ldscript = app.ld\nbuild_flags = -DX\n"
    put(tmp_path / "one/platformio.ini", text)
    put(tmp_path / "one/app.ld", "MEMORY { FLASH (rx) : ORIGIN = 0x34000400, LENGTH = 1K }")
    put(tmp_path / "two/SConstruct", 'env.Program("build/app.elf", Glob("*.c"), LINKFLAGS=["-Tboard.ld"])\n')
    put(tmp_path / "two/board.ld", "")
    found = {each.program.kind: each for each in read_project(tmp_path).applications}
    assert found["platformio"].program.file == ".pio/build/n6/firmware.elf"
    assert found["platformio"].program.starts_at == 0x3400_0400
    assert found["platformio"].board is not None
    assert found["scons"].program.file == "build/app.elf"
    assert found["scons"].program.linker_script == tmp_path / "two/board.ld"
    put(tmp_path / "one/platformio.ini", "[[[")
    assert any("platformio.ini cannot be read" in row for row in shown(tmp_path))
    with pytest.raises(N6Error, match="N6-ADOPT-003"):
        list(read_platformio(tmp_path / "one/platformio.ini"))


def test_a_linker_script_of_cube_ide_may_start_in_the_folder_of_its_configuration(tmp_path: Path) -> None:
    settings = cube_project(tmp_path) / ".cproject"
    settings.write_text(settings.read_text().replace("${workspace_loc:/${ProjName}/app.ld}", "../app.ld"))
    (application,) = read_project(tmp_path).applications
    assert application.program.linker_script == settings.with_name("app.ld")


def test_a_faulty_settings_file_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    make_project(tmp_path)
    put(tmp_path / "other/.cproject", "<cproject")
    assert any(row.startswith("unfit read other/.cproject is not XML") for row in shown(tmp_path))


def test_links_are_named_and_not_followed(tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "Model/again").symlink_to(tmp_path)
    assert "unfit read Model/again is a link to a folder; n6build does not follow it" in shown(tmp_path)


def test_a_model_that_git_lfs_has_not_fetched_is_named(tmp_path: Path) -> None:
    make_project(tmp_path)
    put(tmp_path / "Model/net.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n")
    assert any(row.startswith("unfit read Model/net.onnx is a Git LFS pointer") for row in shown(tmp_path))


def test_a_folder_without_anything_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "README.md")
    with pytest.raises(N6Error, match="N6-ADOPT-001: contains no STM32N6 project"):
        read_project(tmp_path)
