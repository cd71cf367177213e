"""Programs and libraries of others: another one is another input."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from importlib.metadata import distribution
from pathlib import Path

import pytest
from compiler_cache import real_compiler
from n6build.hardware.board_header import HEADERS
from n6build.hardware.soc_header import HEADERS as SOC_HEADERS
from slow_rows import telling_rows

from proof.conftest import BOARD, Build, Builds

DRIVER = "arm-none-eabi-gcc"
HEADER_NAMES = (*(header.name for header in HEADERS), *(header.name for header in SOC_HEADERS))
GENERATED = {f"Header include/{name}" for name in HEADER_NAMES}
PARTS = ("cc1", "as", "collect2", "ld")
GOALS = (f"{BOARD}/fsbl_image.bin",)


def real(part: str) -> str:
    path = subprocess.run(
        [DRIVER, f"-print-prog-name={part}"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return path if "/" in path else str(shutil.which(path))


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def toolchain(folder: Path) -> dict[str, str]:
    """A driver in front of the real one, which takes its parts from a folder. Returns an environment that finds it."""
    parts, first = folder / "parts", folder / "first"
    parts.mkdir(parents=True)
    first.mkdir()
    script(first / DRIVER, f'exec "{real_compiler()}" -B"{parts}/" "$@"')
    for part in PARTS:
        script(parts / part, f'exec "{real(part)}" "$@" # 1')
    return {"PATH": f"{first}{os.pathsep}{os.environ['PATH']}"}


def edit_behind_its_back(path: Path, old: bytes, new: bytes) -> None:
    """Size and time of change are as they were."""
    before = path.stat()
    data = path.read_bytes()
    assert data.count(old) == 1
    assert len(old) == len(new)
    path.write_bytes(data.replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.fixture(scope="module")
def built(builds: Builds, tmp_path_factory: pytest.TempPathFactory) -> tuple[Build, Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("tools")
    build = builds.copy("fsbl", folder)
    environment = toolchain(folder / "toolchain")
    # Another driver than that of the original: everything is compiled again.
    assert any(action.startswith("Compile") for action in build.scons(*GOALS, **environment).actions)
    return build, folder / "toolchain/parts", environment


@pytest.mark.parametrize("part", telling_rows(PARTS, "cc1".__eq__))
def test_another_part_of_the_compiler_compiles_and_links_again(
    part: str, built: tuple[Build, Path, dict[str, str]]
) -> None:
    build, parts, environment = built
    assert build.scons(*GOALS, **environment).actions == []
    edit_behind_its_back(parts / part, b"# 1", b"# 2")
    result = build.scons(*GOALS, **environment)
    assert result.status == 0, result.output
    compiled = [action for action in result.actions if action.startswith("Compile")]
    assert len(compiled) == len(list((build.root / "build").rglob("*.o")))
    assert "Link fsbl/fsbl.elf" in result.actions
    assert build.scons(*GOALS, **environment).actions == []


def test_what_another_part_makes_reaches_the_image(built: tuple[Build, Path, dict[str, str]]) -> None:
    """A linker that gives the image another entry point, of the same size and time."""
    build, parts, environment = built
    image = build.root / f"{BOARD}/fsbl_image.bin"
    before = image.read_bytes()
    with (parts / "cc1").open("a") as file:
        file.write("\n")
    script(parts / "cc1", f'exec "{real("cc1")}" "$@" -fno-inline')
    assert build.scons(*GOALS, **environment).status == 0
    assert image.read_bytes() != before


def test_a_compiler_that_appears_in_front_of_the_other_is_taken(builds: Builds, tmp_path: Path) -> None:
    build = builds.copy("fsbl", tmp_path)
    (tmp_path / "first").mkdir()
    environment = {"PATH": f"{tmp_path / 'first'}{os.pathsep}{os.environ['PATH']}"}
    # PATH is not an input of what is compiled, where it leads is.
    assert build.scons(*GOALS, **environment).actions == []
    script(tmp_path / "first" / DRIVER, f'exec "{shutil.which(DRIVER)}" "$@"')
    assert any(action.startswith("Compile") for action in build.scons(*GOALS, **environment).actions)


def installed_copy(name: str, folder: Path) -> Path:
    """Of a distribution, in a folder of its own. Returns its list of files."""
    files = distribution(name).files
    assert files is not None
    for file in files:
        if file.parts[0] != ".." and "__pycache__" not in file.parts:
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(Path(str(file.locate())), target)
    (record,) = folder.glob("*.dist-info/RECORD")
    return record


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "made_again"),
    [
        ("jinja2", "fsbl", {*GENERATED, "Script fsbl/fsbl.ld"}),
        ("intelhex", "linked", {"Hex miniresnet/firmware.hex"}),
        ("pyelftools", "fsbl", {"Image fsbl_image.bin"}),
    ],
)
def test_another_release_of_a_library_makes_again_what_it_makes(
    name: str, kind: str, made_again: set[str], builds: Builds, tmp_path: Path
) -> None:
    build = builds.copy(kind, tmp_path)
    record = installed_copy(name, tmp_path / "packages")
    environment = {"PYTHONPATH": f"{tmp_path / 'packages'}{os.pathsep}{build.root / 'site_scons'}"}
    # The same release in another place is the same.
    assert build.scons(*build.kind.arguments, **environment).actions == []
    data = record.read_bytes()
    record.write_bytes(data.replace(b"/__init__.py,sha256=", b"/__init__.py,sha256=x", 1))
    result = build.scons(*build.kind.arguments, **environment)
    assert result.status == 0, result.output
    done = {line.strip().replace(f"{BOARD}/", "") for line in result.output.splitlines()}
    assert made_again <= done
    assert not [action for action in result.actions if action.startswith(("Compile", "Link"))]
    assert build.scons(*build.kind.arguments, **environment).actions == []
