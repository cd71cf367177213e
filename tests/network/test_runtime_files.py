"""Search for ST's runtime by its content, at any place in a project."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from core_tree import make_core
from n6build.base.errors import N6Error
from n6build.compile.runtime_files import find_runtime, project_around

FAKE = "Middlewares/ST/AI"
# These are the folders of the runtime in 41 public projects (docs/embedding/adopt.md).
LAYOUTS = (
    "Middlewares/AI_Runtime",
    "Middlewares/stedgeai-lib",
    "Lib/AI_Runtime",
    "Appli/Middlewares/ST/stedgeai-lib",
    "deep/lib/stai",
)


@pytest.fixture
def core(tmp_path: Path) -> Path:
    return make_core(tmp_path / "core", (1, 1, 3, 8))


def moved(core: Path, project: Path, place: str) -> Path:
    (project / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.move(core / FAKE, project / place)
    return project


@pytest.mark.parametrize("place", LAYOUTS)
def test_whatever_the_folder_is_called(core: Path, tmp_path: Path, place: str) -> None:
    project = moved(core, tmp_path / "project", place)
    found = find_runtime(project)
    assert found.ll_aton == project / place / "Npu/ll_aton"
    assert found.library is not None
    assert (found.library.name, found.library.is_relative_to(project / place)) == (
        "NetworkRuntime1100_CM55_GCC.a",
        True,
    )


def test_sources_flat_in_one_folder_and_a_library_in_a_folder_of_its_name(core: Path, tmp_path: Path) -> None:
    npu, library = core / FAKE / "Npu", core / FAKE / "Lib/NetworkRuntime1201_CM55_GCC.a"
    for path in (*(npu / "ll_aton").iterdir(), *(npu / "Devices/STM32N6XX").iterdir()):
        shutil.move(path, npu / path.name)
    shutil.rmtree(npu / "ll_aton")
    shutil.move(core / FAKE / "Lib/GCC/ARMCortexM55/NetworkRuntime1100_CM55_GCC.a", core / "one.a")
    shutil.rmtree(core / FAKE / "Lib")
    library.mkdir(parents=True)
    shutil.move(core / "one.a", library / library.name)
    found = find_runtime(core)
    assert (found.ll_aton, found.registers, found.library) == (npu, npu, library / library.name)


def test_a_library_whose_name_begins_with_lib(core: Path) -> None:
    (folder,) = core.rglob("ARMCortexM55")
    for path in folder.iterdir():
        path.rename(folder / f"lib{path.name}")
    library = find_runtime(core).library
    assert library is not None
    assert library.name == "libNetworkRuntime1100_CM55_GCC.a"


def test_what_is_nearest_to_the_runtime_is_taken(core: Path) -> None:
    """An application may have its own register file beside its network."""
    other = core / "Application/atonn"
    other.mkdir(parents=True)
    (other / "ATON.h").touch()
    assert find_runtime(core).registers == core / FAKE / "Npu/Devices/STM32N6XX"


def test_two_releases_in_one_tree_are_refused_with_both_places(core: Path, tmp_path: Path) -> None:
    project = moved(core, tmp_path / "project", "Middlewares/AI_Runtime")
    moved(make_core(tmp_path / "other", (1, 1, 1, 14)), project, "old/AI_Runtime")
    with pytest.raises(N6Error, match="N6-LLATON-006: contains several releases of ST's runtime") as caught:
        find_runtime(project)
    assert "ST Edge AI Core 3.0 in Middlewares/AI_Runtime/Npu/ll_aton" in caught.value.what
    assert "ST Edge AI Core 2.2 in old/AI_Runtime/Npu/ll_aton" in caught.value.what
    # A copy of the same release does not count as a second one.
    moved(make_core(tmp_path / "third", (1, 1, 3, 8)), project, "copy")
    shutil.rmtree(project / "old")
    assert find_runtime(project).version == (1, 1, 3, 8)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("NetworkRuntime1100_CM7_GCC.a", b"!<arch>\n", "there are CM7_GCC"),
        ("NetworkRuntime1100_CM55_IAR.a", b"!<arch>\n", "there are CM55_IAR"),
        (
            "NetworkRuntime1100_CM55_GCC.a",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n",
            "is a Git LFS pointer",
        ),
        ("NetworkRuntime1100_CM55_GCC.a", b"<html>", "is not a library"),
    ],
)
def test_a_library_that_does_not_fit_is_named(core: Path, name: str, content: bytes, why: str) -> None:
    from n6build.compile.runtimes import st_runtime

    (folder,) = core.rglob("ARMCortexM55")
    for path in folder.iterdir():
        path.unlink()
    (folder / name).write_bytes(content)
    with pytest.raises(N6Error, match="has no NetworkRuntime\\*_CM55_GCC.a") as caught:
        st_runtime(core)
    assert why in caught.value.what


def test_a_folder_without_anything_is_refused_with_all_ways_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-LLATON-002: has no ll_aton_runtime.c") as caught:
        find_runtime(tmp_path)
    assert caught.value.hint is not None
    assert "core=auto" in caught.value.hint
    assert "unset" not in caught.value.hint


def test_links_that_were_not_followed_are_named(core: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "Middlewares").mkdir(parents=True)
    (project / "Middlewares/AI").symlink_to(core / FAKE)
    # On a file system without links, Git writes a link as such a text file.
    (project / "Runtime").write_text("../core/Middlewares/ST/AI")
    with pytest.raises(N6Error, match="n6build does not follow these links: Middlewares/AI, Runtime"):
        find_runtime(project)


def test_a_link_that_leads_in_a_circle_ends(core: Path) -> None:
    (core / FAKE / "again").symlink_to(core)
    assert find_runtime(core).ll_aton == core / FAKE / "Npu/ll_aton"


def test_a_tree_with_too_many_files_is_refused(core: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("n6build.base.walk.MAX_ENTRIES", 10)
    with pytest.raises(N6Error, match="N6-FILE-007: has more than 10 files and folders"):
        find_runtime(core)


def test_what_builds_make_is_passed_over(core: Path, tmp_path: Path) -> None:
    shutil.copytree(core / FAKE, core / "build/AI")
    shutil.copytree(core / FAKE, core / "out/AI")
    (core / "out/CMakeCache.txt").touch()
    (core / "build/AI/Npu/ll_aton/ll_aton_version.h").write_text("#define LL_ATON_VERSION_MAJOR 9\n")
    (core / "out/AI/Npu/ll_aton/ll_aton_version.h").write_text("")
    assert find_runtime(core).version == (1, 1, 3, 8)


def test_auto_takes_the_project_around_a_folder_and_never_leaves_its_repository(core: Path, tmp_path: Path) -> None:
    inside = core / "Application/NUCLEO-N657X0-Q/STM32CubeIDE"
    inside.mkdir(parents=True)
    assert project_around(inside) == core
    (core / "Application/.git").mkdir()
    with pytest.raises(N6Error, match="N6-LLATON-002: is not inside a project with ST's runtime or HAL"):
        project_around(inside)
