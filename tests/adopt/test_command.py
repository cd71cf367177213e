"""n6build adopt: the command, its table, and the compiler wrapper.

The wrapper is for the flags of ST's projects.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from firmware_build import CPU
from n6build.adopt.compiler import write_compiler
from n6build.base.errors import N6Error
from n6build.base.foreign_flags import ADDED_FLAGS, UNKNOWN_FLAGS, hint_from
from n6build.cli.adopt import adopt

from adopt.trees import cmake_project, cube_project, make_project, put


def test_a_project_is_adopted_and_a_second_time_nothing_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = make_project(tmp_path) / "Makefile"
    before = script.read_text()
    adopt([str(tmp_path)])
    after = script.read_text()
    assert after.startswith(before)
    assert "N6_LINKED := 0" in after
    assert "Adopted Application/STM32N6570-DK/Makefile, 4 lines added at the end" in capsys.readouterr().out
    adopt([str(tmp_path)])
    assert script.read_text() == after
    assert "already up to date" in capsys.readouterr().out


def test_links_of_an_adoption_are_no_networks_of_the_next_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = cmake_project(tmp_path)
    weights = folder / "X-CUBE-AI/App/network_atonbuf.xSPI2.raw"
    weights.rename(tmp_path / weights.name)
    for _ in range(2):
        adopt([str(tmp_path)])
    assert "5 lines already up to date" in capsys.readouterr().out
    assert (folder / "n6build-network/network_atonbuf.xSPI2.raw").resolve() == tmp_path / weights.name


def test_print_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_project(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    adopt([str(tmp_path), "--print", "board=nucleo-n657"])
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert "N6_OPTIONS := board=nucleo-n657 model=../../Model" in capsys.readouterr().out
    assert folder.is_dir()


def test_one_build_system_of_a_program_is_enough_and_another_can_be_asked_for(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    ide = cube_project(tmp_path / "other").rename(folder / "STM32CubeIDE")
    adopt([str(tmp_path)])
    assert "postbuildStep" not in (ide / ".cproject").read_text()
    adopt([str(tmp_path), "--for", "cubeide"])
    assert "postbuildStep" in (ide / ".cproject").read_text()


@pytest.mark.parametrize(
    ("words", "id"),
    [
        (["{root}", "boards=x"], "N6-OPTION-001: unknown option 'boards=x'"),
        (["{root}", "board=nucleo-n658"], "N6-BOARD-001"),
        (["{root}", "--nothing"], "N6-OPTION-019"),
        ([], "N6-OPTION-019"),
        (["{root}/README.md"], "N6-FILE-002: is not a folder"),
        (["{root}/empty"], "N6-ADOPT-001"),
        (
            ["{root}", "appli=x.elf"],
            "N6-ADOPT-005: Application/STM32N6570-DK/Makefile is not adopted: its script builds no",
        ),
        (["{root}/Model"], "N6-ADOPT-005: n6build found no build script"),
        (["{root}", "--gcc", "Model"], "N6-ADOPT-004"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(tmp_path: Path, words: list[str], id: str) -> None:
    make_project(tmp_path)
    put(tmp_path / "README.md")
    (tmp_path / "empty").mkdir()
    put(tmp_path / "Model/arm-none-eabi-gcc", "mine")
    with pytest.raises(N6Error, match=id):
        adopt([word.format(root=tmp_path) for word in words])


C_OF_ST = """#include <inttypes.h>
#include <math.h>
#include <stdio.h>
float_t scale = 0.5f;
void put(uint64_t word) { printf("%" PRIx64 "\\n", word); }
"""


def test_the_compiler_takes_the_flags_and_the_sources_of_st(tmp_path: Path) -> None:
    made = write_compiler(tmp_path / "gcc", os.environ["PATH"])
    assert (made.removed, made.added) == (UNKNOWN_FLAGS, ADDED_FLAGS)
    put(tmp_path / "a.c", C_OF_ST)
    flags = [*CPU, "--specs=nano.specs", "-Wall", "-Werror", "-DNAME=a b", *UNKNOWN_FLAGS]
    command = [str(tmp_path / "gcc/arm-none-eabi-gcc"), *flags, "-c", "a.c", "-o", "a.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "gcc/arm-none-eabi-size", "a.o"], cwd=tmp_path, check=True, capture_output=True)
    # If it is on PATH itself, it does not call itself.
    path = f"{tmp_path / 'gcc'}:{os.environ['PATH']}"
    assert write_compiler(tmp_path / "gcc", path).compiler == made.compiler
    put(tmp_path / "gcc/arm-none-eabi-gcc", "mine")
    with pytest.raises(N6Error, match="N6-ADOPT-004"):
        write_compiler(tmp_path / "gcc", path)
    with pytest.raises(N6Error, match="N6-TOOL-001"):
        write_compiler(tmp_path / "none", str(tmp_path))


def test_flags_that_the_compiler_knows_are_passed_on(tmp_path: Path) -> None:
    stand_in = put(tmp_path / "bin/arm-none-eabi-gcc", "#!/bin/sh\nexit 0\n")
    stand_in.chmod(0o755)
    assert write_compiler(tmp_path / "gcc", str(stand_in.parent)).removed == ()


@pytest.mark.parametrize(
    ("flags", "line", "cure"),
    [
        (list(UNKNOWN_FLAGS), "", "remove -fcyclomatic-complexity: only the compiler of STM32CubeIDE accepts it"),
        ([], "float_t scale;\n", "add -fpermitted-flt-eval-methods=c11: newlib hides float_t from this compiler"),
        (
            [],
            'const char *form = "%" PRIx64;\n',
            "add -D__int64_t_defined=1",
        ),
        ([], "no_such_type x;\n", None),
    ],
)
def test_the_compiler_s_text_is_understood(tmp_path: Path, flags: list[str], line: str, cure: str | None) -> None:
    put(tmp_path / "a.c", f"#include <inttypes.h>\n#include <math.h>\n{line}")
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m55", "-mfloat-abi=hard", "--specs=nano.specs", *flags, "-c", "a.c"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    hint = hint_from(ran.stdout + ran.stderr)
    assert hint == cure if cure is None else hint is not None and hint.startswith(cure)
