"""The runtime of a build: n6build's own, a named one, or the host project's."""

from __future__ import annotations

from pathlib import Path

import pytest
from adopt.trees import CORE, make_project
from core_tree import make_core
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.compile.runtimes import Runtime
from n6build.compile.st_edge_ai.find import find_tool
from n6build.describe.choices import choices_of
from n6build.describe.project_settings import resolve
from n6build.steps.job import environment_of, runtime_of


def runtime(launched: Path, named: str = "", **options: str) -> Runtime:
    """Return the runtime of a build.

    Args:
        launched: Folder in which the build was launched.
        named: Value of STEDGEAI_CORE_DIR.
        options: Options of the build.
    """
    choices = choices_of(resolve(options, {}, launched), launched)
    environment = read_environment({"PATH": "", "STEDGEAI_CORE_DIR": named})
    return runtime_of(choices, environment_of(choices, environment))


def test_without_a_core_it_is_ours(tmp_path: Path) -> None:
    assert runtime(tmp_path).name == "n6build"


def test_auto_is_the_project_around_the_folder_of_the_command(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    found = runtime(folder, core="auto")
    assert (found.name, found.version) == ("st", CORE.ll_aton)
    # The headers come from the same project.
    headers = {each.relative_to(tmp_path / "project").as_posix() for each in found.foreign_folders[3:]}
    assert "STM32Cube_FW_N6/Drivers/STM32N6xx_HAL_Driver/Inc" in headers
    with pytest.raises(N6Error, match="N6-LLATON-002: is not inside a project with ST's runtime"):
        runtime(tmp_path / "elsewhere", core="auto")


def test_a_core_on_the_command_line_is_stronger_than_the_variable(tmp_path: Path) -> None:
    make_project(tmp_path / "project")
    other = make_core(tmp_path / "other", (1, 1, 1, 14))
    assert runtime(tmp_path, str(other)).version == (1, 1, 1, 14)
    assert runtime(tmp_path, str(other), core="project").version == CORE.ll_aton
    assert runtime(tmp_path, str(tmp_path / "project")).version == CORE.ll_aton


def test_headers_of_the_project_around_go_with_a_core_that_has_none(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    other = make_core(tmp_path / "other", (1, 1, 1, 14))
    assert not any("STM32Cube_FW_N6" in str(each) for each in runtime(folder, str(other)).foreign_folders)
    assert any("STM32Cube_FW_N6" in str(each) for each in runtime(folder, str(other), cmsis="auto").foreign_folders)


def test_a_core_on_the_command_line_brings_its_compiler(tmp_path: Path) -> None:
    """ST's compiler looks for its own files by the variable."""
    for name in ("one", "two"):
        (tmp_path / name / "Utilities/linux").mkdir(parents=True)
        (tmp_path / name / "Utilities/linux/stedgeai").touch()
    named = read_environment({"PATH": "", "HOME": str(tmp_path), "STEDGEAI_CORE_DIR": str(tmp_path / "one")})
    choices = choices_of(resolve({"core": "two"}, {}, tmp_path), tmp_path)
    environment = environment_of(choices, named)
    tool = find_tool(environment)
    assert tool is not None
    assert tool.root == tmp_path / "two"
    assert dict(environment.stedgeai)["STEDGEAI_CORE_DIR"] == str(tmp_path / "two")
    unnamed = find_tool(environment_of(choices_of(resolve({}, {}, tmp_path), tmp_path), named))
    assert unnamed is not None
    assert unnamed.root == tmp_path / "one"
