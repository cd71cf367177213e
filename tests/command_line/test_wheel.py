"""The wheel, installed without network into an empty virtual environment: n6build with nothing of the checkout in reach."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest
from patience import NET_S

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
HOLDING = ("boards", "firmware", "models", "tools", "site_scons")
KEYWORD = "build/nucleo-n657/keyword"


def call(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        command,
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=NET_S,
        check=False,
    )
    assert "Traceback" not in result.stderr, result.stderr
    return result


def made_wheel(folder: Path) -> Path:
    folder.mkdir()
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation")
    result = call(*pip, "--wheel-dir", folder, ROOT, cwd=folder)
    assert result.returncode == 0, result.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_wheel(tmp_path_factory.mktemp("wheel") / "dist")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """bin of an environment with the wheel; what it depends on comes from the one that runs the tests."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    assert call(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent).returncode == 0
    python = folder / "bin/python"
    install = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps")
    result = call(*install, wheel, cwd=folder.parent)
    assert result.returncode == 0, result.stderr
    (packages,) = folder.glob("lib/python3*/site-packages")
    # What this names is searched last, and the editable installation in it is not followed.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = call(python, "-c", "import n6build; print(n6build.__file__)", cwd=folder.parent).stdout
    assert where.startswith(str(folder)), where
    return folder / "bin"


def n6build(installed: Path, folder: Path, *words: str) -> str:
    result = call(installed / "n6build", *words, cwd=folder)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout + result.stderr
    return result.stdout


def test_lists_and_version(installed: Path, tmp_path: Path) -> None:
    assert n6build(installed, tmp_path, "--version") == f"n6build {VERSION}\n"
    boards, models = n6build(installed, tmp_path, "boards"), n6build(installed, tmp_path, "models")
    for name in (path.parent.name for path in ROOT.glob("boards/*/board.yaml")):
        assert f"{name} " in boards
    for name in (path.parent.name for path in ROOT.glob("models/*/model.yaml")):
        assert f"{name} " in models
    assert list(tmp_path.iterdir()) == []


def test_a_plan_names_nothing_of_the_checkout(installed: Path, tmp_path: Path) -> None:
    assert n6build(installed, tmp_path, "plan", "--write", "plan.json", "flash", "run", "probe=virtual") == ""
    assert str(ROOT) not in (tmp_path / "plan.json").read_text()
    assert "steps to do" in n6build(installed, tmp_path, "plan", "model=keyword")
    header = "build/nucleo-n657/include/n6_soc.h"
    assert "Header" in n6build(installed, tmp_path, "step", header, "--plan", "plan.json")
    assert (tmp_path / header).is_file()


def test_stages_make_what_the_checkout_makes(installed: Path, tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    for folder in (there, here):
        folder.mkdir()
    words = ("image", "model=keyword", "board=nucleo-n657")
    assert "Network" in n6build(installed, there, "network", "model=keyword")
    n6build(installed, there, *words)
    assert "Nothing to do, image up to date" in n6build(installed, there, *words)
    result = call(sys.executable, "-m", "n6build", *words, cwd=here, PYTHONPATH=str(ROOT / "site_scons"))
    assert result.returncode == 0, result.stderr
    manifest = json.loads((there / KEYWORD / "flash_manifest.json").read_text())
    assert len(manifest["segments"]) > 2
    images = [
        path for path in sorted(there.rglob("*")) if path.suffix in (".bin", ".json") and ".n6build" not in path.parts
    ]
    assert len(images) > 4
    for path in images:
        assert path.read_bytes() == (here / path.relative_to(there)).read_bytes(), path.name


def test_scons_finds_the_tools_in_the_package(installed: Path, tmp_path: Path) -> None:
    script = (ROOT / "SConstruct").read_text()
    toolpath = 'toolpath=[DefaultEnvironment().PyPackageDir("n6build.site_tools")], tools=["n6"'
    (tmp_path / "SConstruct").write_text(script.replace('tools=["n6"', toolpath))
    result = call(installed / "python", "-m", "SCons", "-Q", "network", "model=keyword", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Nothing to do" in n6build(installed, tmp_path, "network", "model=keyword")


def test_projects_of_make_cmake_and_scons_find_the_package(installed: Path, tmp_path: Path) -> None:
    path = os.pathsep.join([str(installed), str(Path(sys.executable).parent), os.environ["PATH"]])
    for name in ("make", "cmake", "scons"):
        shutil.copytree(ROOT / "examples" / name, tmp_path / name, ignore=shutil.ignore_patterns("build"))
    place = n6build(installed, tmp_path, "--cmake-dir").strip()
    assert Path(place).is_relative_to(installed.parent)
    script = tmp_path / "scons/SConstruct"
    tools = 'env.PyPackageDir("n6build.site_tools")'
    script.write_text(script.read_text().replace('f"{N6BUILD}/site_scons/site_tools"', tools))
    python = installed / "python"
    for name, *commands in (
        ("make", ["make", "-j2", "all", "n6-build"]),
        ("cmake", ["cmake", "--preset", "release", f"-Dn6build_DIR={place}"], ["cmake", "--build", "build"]),
        ("scons", [python, "-m", "SCons", "-Q"]),
    ):
        for command in commands:
            result = call(*command, cwd=tmp_path / name, PATH=path)
            assert result.returncode == 0, result.stdout + result.stderr
        plans = [file.read_text() for file in (tmp_path / name).rglob("plan.json")]
        assert not any(str(ROOT) in text for text in plans)
        assert len([*(tmp_path / name).rglob("flash_manifest.json")]) == (2 if name == "scons" else 1)


@pytest.mark.slow
def test_the_wheel_is_the_same_bytes_wherever_it_is_built(wheel: Path, tmp_path: Path) -> None:
    again = made_wheel(tmp_path / "again")
    assert again.read_bytes() == wheel.read_bytes()


def test_the_wheel_holds_all_that_the_library_reads_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    listing = call("git", "-C", ROOT, "ls-files", *HOLDING, cwd=ROOT)
    if listing.returncode:
        pytest.skip("this is not a checkout of git")
    files = [name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]
    assert len(files) > 500
    library = {name.removeprefix("site_scons/") for name in files if name.startswith("site_scons/")}
    tools = {f"n6build/{name}" for name in library if name.startswith("site_tools/")}
    data = {f"n6build/_data/{name}" for name in files if not name.startswith("site_scons/")}
    held = {name for name in names if ".dist-info/" not in name} - {"n6build/site_tools/__init__.py"}
    assert held == {name for name in library if not name.startswith("site_tools/")} | tools | data
