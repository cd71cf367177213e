"""The lines for each build system, and reasons for a program to get none."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from n6build.adopt.lines import Adoption, adoption_of
from n6build.adopt.project import read_project

from adopt.trees import CORE, IN_FLASH, NON_SECURE, WEIGHTS, cmake_project, cube_project, make_project, put


def adopted(root: Path, board: str = "", models: tuple[str, ...] = (), name: str = "") -> Adoption:
    project = read_project(root)
    return adoption_of(project.applications[0], project, board, models, name)


def test_a_makefile_gets_four_lines(tmp_path: Path) -> None:
    make_project(tmp_path)
    assert adopted(tmp_path).lines == (
        "N6_APPLI := $(BUILD_DIR)/$(TARGET).elf",
        "N6_OPTIONS := board=stm32n6570-dk model=../../Model core=../.. linker_script=app.ld",
        "N6_LINKED := 0",
        "include $(or $(wildcard build/n6build/n6build.mk),$(shell n6build --makefile))",
    )


def test_a_cmake_script_gets_five_lines(tmp_path: Path) -> None:
    cmake_project(tmp_path)
    lines = adopted(tmp_path).lines
    assert len(lines) == 5
    assert lines[2] == (
        "n6build_add_network(${CMAKE_PROJECT_NAME} MODEL X-CUBE-AI/App BOARD stm32n6570-dk "
        "OWN_RUNTIME OPTIONS core=.. linker_script=app.ld)"
    )


def test_cube_ide_gets_one_line_for_the_folder_of_its_configuration(tmp_path: Path) -> None:
    cube_project(tmp_path)
    assert adopted(tmp_path).lines == (
        "n6build build --build n6build board=nucleo-n657 model=../../../Model core=../../.. linker_script=../app.ld "
        "appli=${BuildArtifactFileName}",
    )


def test_what_executes_in_flash_is_started_by_the_fsbl_of_the_project(tmp_path: Path) -> None:
    cmake_project(tmp_path, IN_FLASH)
    assert "fsbl=../FSBL/build/Thing_FSBL.elf" in adopted(tmp_path).lines[2]


def test_weights_that_lie_apart_are_linked_beside_the_network(tmp_path: Path) -> None:
    folder = cmake_project(tmp_path)
    network = folder / "X-CUBE-AI/App/network.c"
    (network.parent / WEIGHTS).rename(tmp_path / WEIGHTS)
    found = adopted(tmp_path)
    assert "MODEL n6build-network BOARD" in found.lines[2]
    assert found.links == (
        ("n6build-network/network.c", network),
        (f"n6build-network/{WEIGHTS}", tmp_path / WEIGHTS),
    )


def test_board_model_and_program_of_the_user_come_first(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    (folder / "Makefile").write_text((folder / "Makefile").read_text() + "build/other.elf: b.o\n\t$(CC)\n")
    put(tmp_path / "net.tflite")
    lines = adopted(tmp_path, "nucleo-n657", (str(tmp_path / "net.tflite"), "keyword"), "build/other.elf").lines
    assert lines[0] == "N6_APPLI := build/other.elf"
    assert "board=nucleo-n657 model=../../net.tflite,keyword " in lines[1]


def test_names_with_blanks_are_quoted(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "my project")
    (tmp_path / "my project/Model").rename(tmp_path / "my project/my $model")
    (folder / "Makefile").write_text(
        (folder / "Makefile").read_text().replace("../../Model/network.c", "$(wildcard x/*)")
    )
    assert "model='../../my $$model'" in adopted(tmp_path / "my project").lines[1]


def test_a_program_without_a_network_is_only_flashed(tmp_path: Path) -> None:
    folder = cmake_project(tmp_path)
    (folder / "X-CUBE-AI/App/network.c").unlink()
    found = adopted(tmp_path)
    assert found.lines == ()
    assert found.commands[0] == "n6build build appli=build/Thing_Appli.elf board=stm32n6570-dk linker_script=app.ld"


def no_board(root: Path) -> None:
    folder = make_project(root)
    text = (folder / "Makefile").read_text().replace("STM32N6570-DK", "x")
    (folder / "Makefile").write_text(text)
    folder.rename(root / "Application/mine")


def in_flash_alone(root: Path) -> None:
    cmake_project(root, IN_FLASH)
    (root / "FSBL/CMakeLists.txt").unlink()


def non_secure(root: Path) -> None:
    cmake_project(root, NON_SECURE)


def without_weights(root: Path) -> None:
    make_project(root)
    (root / "Model" / WEIGHTS).unlink()


def lfs_weights(root: Path) -> None:
    make_project(root)
    (root / "Model" / WEIGHTS).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n")


def without_runtime(root: Path) -> None:
    make_project(root)
    (root / "Middlewares/AI_Runtime/Npu/ll_aton/ll_aton_runtime.c").unlink()


def without_library(root: Path) -> None:
    cmake_project(root)
    for path in root.rglob("*.a"):
        path.rename(path.with_name(path.name.replace("CM55", "CM7")))


@pytest.mark.parametrize(
    ("lay", "why"),
    [
        (no_board, "its script, its folder and .ioc files name no board"),
        (in_flash_alone, "it executes in flash, and the project has no FSBL"),
        (non_secure, "it is linked to non-secure memory"),
        (without_weights, "the project does not contain the weights of pool xSPI2 of Model/network.c"),
        (lfs_weights, f"Model/{WEIGHTS} is a Git LFS pointer"),
        (without_runtime, "its network needs ST's runtime, and the project has no ll_aton_runtime.c"),
        (
            without_library,
            "ST's runtime in the project has no NetworkRuntime*_CM55_GCC.a: the layers that the "
            "CPU computes (there are CM7_GCC)",
        ),
    ],
)
def test_what_keeps_a_program_from_lines_is_named(tmp_path: Path, lay: Callable[[Path], object], why: str) -> None:
    lay(tmp_path / "p")
    found = adopted(tmp_path / "p")
    assert found.lines == found.commands == ()
    assert found.lacks.startswith(why)


def test_a_program_without_a_network_is_linked_with_a_model_that_is_named(tmp_path: Path) -> None:
    make_project(tmp_path / "make")
    (tmp_path / "make/Model/network.c").unlink()
    lines = adopted(tmp_path / "make", models=("keyword",)).lines
    assert "N6_LINKED := 0" not in lines
    assert lines[-2:] == ("CFLAGS += $(N6_CPPFLAGS)", "LDFLAGS += $(N6_LIBS)")
    folder = cmake_project(tmp_path / "cmake")
    (folder / "X-CUBE-AI/App/network.c").unlink()
    line = adopted(tmp_path / "cmake", models=("keyword",)).lines[2]
    assert line.startswith("n6build_add_network(${CMAKE_PROJECT_NAME} MODEL keyword BOARD stm32n6570-dk OPTIONS linker")


def test_a_program_that_the_script_does_not_build(tmp_path: Path) -> None:
    make_project(tmp_path)
    assert adopted(tmp_path, name="x.elf").lacks == ("its script builds no 'x.elf'; it has $(BUILD_DIR)/$(TARGET).elf")


def test_two_networks_of_one_folder_are_named_by_their_files(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    source = tmp_path / "Model/network.c"
    put(tmp_path / "Model/od.c", source.read_text())
    put(tmp_path / "Model/od_atonbuf.xSPI2.raw", b"\1")
    text = (folder / "Makefile").read_text()
    (folder / "Makefile").write_text(text.replace("../../Model/network.c", "../../Model/network.c ../../Model/od.c"))
    assert re.search(r"model=../../Model/network.c,../../Model/od.c ", adopted(tmp_path).lines[1])
    assert CORE.release == "4.0.1"
