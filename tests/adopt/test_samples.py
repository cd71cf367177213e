"""Real projects in their published form, and the lines that adopt them."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.adopt.carry_out import chosen_applications
from n6build.adopt.lines import adoption_of
from n6build.adopt.project import Project, read_project
from n6build.base.errors import N6Error
from n6build.compile.ll_aton import release_name
from samples import sample

OBJECT_DETECTION = "projects/STM32N6-GettingStarted-ObjectDetection"
EXAMPLE = "projects/STM32N6Example"
NUCLEO_BASE = "projects/stm32n6_nucleo_base"
AUDIO = "apps/audio"


def lines_of(project: Project) -> dict[str, tuple[str, int, str]]:
    """Return by script the board, the number of lines and the obstacle.

    An obstacle keeps the program from getting lines.
    """
    found = {}
    for application in chosen_applications(project, None):
        adoption = adoption_of(application, project, "", (), "")
        script = application.program.script.relative_to(project.root).as_posix()
        board = application.board.name if application.board else ""
        found[script] = (board, len(adoption.lines), adoption.lacks)
    return found


@pytest.mark.parametrize(
    ("place", "release", "library", "expected"),
    [
        (
            OBJECT_DETECTION,
            "ST Edge AI Core 2.1",
            "NetworkRuntime1010_CM55_GCC.a",
            {
                "Application/STM32N6570-DK/Makefile": ("stm32n6570-dk", 4, ""),
                # The missing files are in no public snapshot.
                "Application/NUCLEO-N657X0-Q/Makefile": (
                    "nucleo-n657",
                    0,
                    "the project does not contain the weights of pool xSPI2 of Model/NUCLEO-N657X0-Q/network.c",
                ),
            },
        ),
        (
            EXAMPLE,
            "ST Edge AI Core 2.1",
            "NetworkRuntime1010_CM55_GCC.a",
            {"Appli/CMakeLists.txt": ("stm32n6570-dk", 5, "")},
        ),
        (
            AUDIO,
            "ST Edge AI Core 2.2",
            "NetworkRuntime1020_CM55_GCC.a",
            {"Projects/GS/Makefile": ("stm32n6570-dk", 4, "")},
        ),
    ],
)
def test_projects_with_a_network(
    place: str, release: str, library: str, expected: dict[str, tuple[str, int, str]]
) -> None:
    project = read_project(sample(place))
    assert project.runtime is not None
    assert project.runtime.library is not None
    assert (release_name(project.runtime.version), project.runtime.library.name) == (release, library)
    assert all(network.version == project.runtime.version for network in project.networks)
    assert project.headers_fault == ""
    assert all(application.program.linker_script for application in project.applications)
    assert lines_of(project) == expected


def test_a_project_without_a_network() -> None:
    project = read_project(sample(NUCLEO_BASE))
    assert project.runtime is None
    assert [program.folder.name for program in project.fsbls] == ["FSBL"]
    non_secure = (
        "it is linked to non-secure memory: it needs a secure program that starts it, and n6build does not "
        "program that one"
    )
    assert lines_of(project) == {
        "AppliNonSecure/CMakeLists.txt": ("nucleo-n657", 0, non_secure),
        "AppliSecure/CMakeLists.txt": ("nucleo-n657", 0, ""),
    }


def test_the_project_of_cubemx_executes_in_flash_and_its_weights_lie_apart() -> None:
    project = read_project(sample(EXAMPLE))
    (application,) = project.applications
    assert application.program.linker_script is not None
    assert application.program.linker_script.name == "STM32N657XX_ROMxspi2.ld"
    assert application.starts_in_flash
    assert application.fsbl is not None
    assert application.fsbl.relative_to(project.root) == Path("FSBL/build/TestSTM32N6V3_FSBL.elf")
    links = adoption_of(application, project, "", (), "").links
    assert [name for name, _ in links] == ["n6build-network/network.c", "n6build-network/network_atonbuf.xSPI2.raw"]


def test_the_scripts_of_cube_ide_are_read_as_well() -> None:
    project = read_project(sample(OBJECT_DETECTION))
    found = {each.program.folder.parent.name: each for each in project.applications if each.program.kind == "cubeide"}
    boards = {name: each.board.name for name, each in found.items() if each.board}
    # The settings of the second program name the first board.
    assert boards == {"STM32N6570-DK": "stm32n6570-dk", "NUCLEO-N657X0-Q": "nucleo-n657"}
    assert all(len(each.networks) == 1 for each in found.values())


def test_a_folder_with_many_projects_is_refused() -> None:
    with pytest.raises(N6Error, match="N6-LLATON-006: contains several releases of ST's runtime"):
        read_project(sample("core").parent)
