"""Third-party programs and libraries: a changed one is a changed input."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from importlib.metadata import distribution
from pathlib import Path

import pytest
from compiler_cache import real_compiler
from file_times import write_with_old_time
from n6build.describe.hardware.board_header import HEADERS
from n6build.describe.hardware.soc_header import HEADERS as SOC_HEADERS
from slow_rows import telling_rows

from proof.conftest import BOARD, Builds

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


def toolchain(folder: Path) -> None:
    """Write a driver in front of the real one, which takes its parts from a folder."""
    script(folder / "first" / DRIVER, f'exec "{real_compiler()}" -B"{folder}/parts/" "$@"')
    (folder / "parts").mkdir()
    for part in PARTS:
        script(folder / "parts" / part, f'exec "{real(part)}" "$@" # 1 -fno-inline')


def edit_behind_its_back(path: Path, old: str, new: str) -> None:
    """Edit a file without a change of its size and modification time."""
    text = path.read_text()
    assert (text.count(old), len(old)) == (1, len(new))
    write_with_old_time(path, text.replace(old, new))


def compiled(actions: list[str]) -> list[str]:
    return [action for action in actions if action.startswith("Compile")]


# Only the compiler proper understands the option.
EDITED = {part: "-fno-inline # 1" if part == "cc1" else "# 2 -fno-inline" for part in PARTS}


@pytest.mark.parametrize("part", telling_rows(PARTS, "cc1".__eq__))
def test_another_driver_or_part_of_the_compiler_compiles_and_links_again(
    part: str, builds: Builds, tmp_path: Path
) -> None:
    build = builds.copy("fsbl", tmp_path)
    folder = tmp_path / "toolchain"
    (folder / "first").mkdir(parents=True)
    environment = {"PATH": f"{folder / 'first'}{os.pathsep}{os.environ['PATH']}"}
    # PATH is not an input of a compilation, but the programs that it leads to are.
    assert build.scons(*GOALS, **environment).actions == []
    toolchain(folder)
    assert compiled(build.scons(*GOALS, **environment).actions) != []
    image = build.root / f"{BOARD}/fsbl_image.bin"
    before = image.read_bytes()
    edit_behind_its_back(folder / "parts" / part, "# 1 -fno-inline", EDITED[part])
    result = build.scons(*GOALS, **environment).done()
    assert len(compiled(result.actions)) == len(list((build.root / "build").rglob("*.o")))
    assert "Link fsbl/fsbl.elf" in result.actions
    # Only a changed compiler proper changes the image.
    assert (image.read_bytes() != before) == (part == "cc1")
    assert build.scons(*GOALS, **environment).actions == []


def installed_copy(name: str, folder: Path) -> Path:
    """Copy a distribution into a folder of its own; return its list of files."""
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
    # The same release in another place counts as the same.
    assert build.scons(*build.kind.arguments, **environment).actions == []
    data = record.read_bytes()
    record.write_bytes(data.replace(b"/__init__.py,sha256=", b"/__init__.py,sha256=x", 1))
    result = build.scons(*build.kind.arguments, **environment).done()
    done = {line.strip().replace(f"{BOARD}/", "") for line in result.output.splitlines()}
    assert made_again <= done
    assert not [action for action in result.actions if action.startswith(("Compile", "Link"))]
    assert build.scons(*build.kind.arguments, **environment).actions == []
