"""Projects of ST for pictures are recognised by their files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.application.vision_project import is_project, read_vision_project
from samples import sample

from application.vision_trees import APPLICATION, NAME, make_vision_project

OBJECT_DETECTION = "projects/STM32N6-GettingStarted-ObjectDetection"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vision_project(tmp_path / "camera")


@pytest.mark.parametrize("below", ["", "Application", APPLICATION, f"{APPLICATION}/Makefile"])
def test_its_files_are_found_from_any_of_its_folders(root: Path, below: str) -> None:
    project = read_vision_project(root / below, NAME)
    assert project.root == root
    assert project.makefile == f"{APPLICATION}/Makefile"
    assert project.config == f"{APPLICATION}/Inc/app_config.h"
    assert (project.network, project.symbol) == ("Model/network.c", "Default")
    assert project.decoders == ("od_yolo_v8_uf", "od_yolo_v8_ui")
    assert not project.has_old_macros
    assert f"{APPLICATION}/Src/main.c" in project.files
    assert "README.md" not in project.files


def test_release_1_has_other_names_and_one_folder(root: Path) -> None:
    for path in (root / APPLICATION).iterdir():
        shutil.copytree(path, root / path.name, dirs_exist_ok=True) if path.is_dir() else shutil.move(path, root)
    shutil.rmtree(root / "Application")
    makefile = root / "Makefile"
    makefile.write_text(makefile.read_text().replace("../../", ""))
    config = root / "Inc/app_config.h"
    config.write_text(config.read_text() + "#define AI_OBJDETECT_YOLOV8_PP_NB_CLASSES (1)\n")
    project = read_vision_project(root, NAME)
    assert (project.makefile, project.config, project.has_old_macros) == ("Makefile", "Inc/app_config.h", True)


@pytest.mark.parametrize("kit", ["STM32N6570-DK", "NUCLEO-N657X0-Q"])
def test_st_s_project_has_a_program_for_each_board(kit: str) -> None:
    project = read_vision_project(sample(OBJECT_DETECTION), kit)
    assert project.makefile == f"Application/{kit}/Makefile"
    assert project.network == f"Model/{kit}/network.c"
    assert project.symbol == "Default"
    assert {"od_yolo_v8_uf", "od_st_yolox_uf", "od_st_ssd_uf"} <= set(project.decoders)
    assert len(project.files) > 600


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (f"{APPLICATION}/Makefile", r"it lacks a Makefile that links a program \(.elf\)"),
        ("Model/network.c", "it lacks a network.c that its Makefile compiles"),
        (f"{APPLICATION}/Inc/app_config.h", "it lacks app_config.h"),
        (f"{APPLICATION}/Inc/app_postprocess.h", "it lacks app_postprocess.h"),
    ],
)
def test_another_kind_of_project_is_refused_by_the_missing_file(root: Path, missing: str, message: str) -> None:
    (root / missing).unlink()
    with pytest.raises(N6Error, match=f"N6-APP-030: is not a project of ST for pictures: {message}"):
        read_vision_project(root, NAME)


@given(
    st.lists(
        st.sampled_from(
            [b" ../ ", b"../../x.c ", b".elf", b"network.c", b"\n", b"$(A)/../", b"\xff", b"#define POSTPROCESS_X (1)"]
        ),
        max_size=40,
    ).map(b"".join)
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
def test_any_makefile_and_any_header_is_read_or_refused(root: Path, text: bytes) -> None:
    folder = root / APPLICATION
    (folder / "Makefile").write_bytes(text)
    (folder / "Inc/app_postprocess.h").write_bytes(text)
    try:
        assert read_vision_project(folder / "Makefile", NAME).network == "Model/network.c"
    except N6Error as error:
        assert error.id in ("N6-APP-030", "N6-APP-031", "N6-FILE-007")


def test_audio_is_not_for_pictures() -> None:
    with pytest.raises(N6Error, match="N6-APP-030"):
        read_vision_project(sample("apps/audio"), NAME)


def test_a_board_decides_between_programs_or_they_are_listed(root: Path) -> None:
    shutil.copytree(root / APPLICATION, root / "Application/NUCLEO-N657X0-Q")
    assert read_vision_project(root, "NUCLEO-N657X0-Q").makefile == "Application/NUCLEO-N657X0-Q/Makefile"
    with pytest.raises(N6Error, match="N6-APP-031: has 2 programs: Application/NUCLEO-N657X0-Q/Makefile, Application"):
        read_vision_project(root, "OpenMV")


def test_a_project_with_two_networks_is_refused(root: Path) -> None:
    shutil.copy(root / "Model/network.c", root / "Model/reid.c")
    makefile = root / APPLICATION / "Makefile"
    makefile.write_text(makefile.read_text().replace("/network.c\n", "/network.c $(MODEL_DIR)/reid.c\n"))
    with pytest.raises(N6Error, match="N6-APP-031: has 2 networks: network.c, reid.c"):
        read_vision_project(root, NAME)


def test_only_folders_and_makefiles_are_projects(root: Path) -> None:
    assert is_project(str(root))
    assert is_project(str(root / APPLICATION / "Makefile"))
    assert not is_project("")
    assert not is_project(str(root / "app.elf"))
