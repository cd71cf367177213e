"""The wheel in an empty virtual environment, installed without a network.

n6build runs with no file of the checkout in reach.
"""

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

import called
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = PROJECT["version"]
HOLDING = ("boards", "examples", "firmware", "models", "tools", "site_scons", "LICENSE")
KEYWORD = "build/nucleo-n657/keyword"


def call(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    options = {"HOME": str(cwd), "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment}
    result = called.call(*command, cwd=cwd, **options)
    assert "Traceback" not in result.stderr, result.stderr
    return result


def done(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Return the output of a command that succeeds."""
    result = call(*command, cwd=cwd, **environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def made_wheel(folder: Path) -> Path:
    folder.mkdir()
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation")
    done(*pip, "--wheel-dir", folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_wheel(tmp_path_factory.mktemp("wheel") / "dist")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the bin folder of an environment with the wheel.

    Its dependencies come from the environment that runs the tests.
    """
    folder = tmp_path_factory.mktemp("environment") / "venv"
    done(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / "bin/python"
    install = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps")
    # n6build compiles its modules itself, because pip's byte code has another stamp.
    done(*install, "--no-compile", wheel, cwd=folder.parent)
    (packages,) = folder.glob("lib/python3*/site-packages")
    # Python searches this folder last, and does not follow the editable installation in it.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = call(python, "-c", "import n6build; print(n6build.__file__)", cwd=folder.parent).stdout
    assert where.startswith(str(folder)), where
    return folder / "bin"


def n6build(installed: Path, folder: Path, *words: str) -> str:
    result = call(installed / "n6build", *words, cwd=folder)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout + result.stderr
    return result.stdout


@pytest.mark.slow
def test_lists_help_and_version(installed: Path, tmp_path: Path) -> None:
    assert n6build(installed, tmp_path, "--version") == f"n6build {VERSION}\n"
    assert "n6build flash" in n6build(installed, tmp_path, "--help")
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
    assert "Header" in n6build(installed, tmp_path, "build", header)
    assert (tmp_path / header).is_file()


# Every run covers this by test_a_plan_names_nothing_of_the_checkout; equal plans make equal files
# (test_without_scons.py).
@pytest.mark.slow
def test_stages_make_what_the_checkout_makes(installed: Path, tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    for folder in (there, here):
        folder.mkdir()
    words = ("image", "model=keyword", "board=nucleo-n657")
    assert "Network" in n6build(installed, there, "network", "model=keyword")
    n6build(installed, there, *words)
    assert "Nothing to do, image up to date" in n6build(installed, there, *words)
    done(sys.executable, "-m", "n6build", *words, cwd=here, PYTHONPATH=str(ROOT / "site_scons"))
    manifest = json.loads((there / KEYWORD / "flash_manifest.json").read_text())
    assert len(manifest["segments"]) > 2
    images = [
        path for path in sorted(there.rglob("*")) if path.suffix in (".bin", ".json") and ".n6build" not in path.parts
    ]
    assert len(images) > 4
    for path in images:
        assert path.read_bytes() == (here / path.relative_to(there)).read_bytes(), path.name


def test_without_the_virtual_board_only_what_needs_it_fails(installed: Path, tmp_path: Path) -> None:
    """The virtual board has not been built for this home."""
    assert "Flashed" in n6build(installed, tmp_path, "flash", "model=anomaly", "probe=virtual")
    run = call(installed / "n6build", "run", "model=anomaly", "probe=virtual", cwd=tmp_path)
    assert run.returncode == 2
    assert "error N6-VB-001: the virtual board was not built" in run.stderr
    assert "python -m n6build.board.virtual_board.build" in run.stderr


@pytest.mark.slow
def test_reports_name_the_version(installed: Path, tmp_path: Path) -> None:
    n6build(installed, tmp_path, "report", "model=keyword")
    (report,) = tmp_path.rglob("report.json")
    assert f'"{VERSION}"' in report.read_text()


def test_the_metadata_has_the_ranges(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    asked = {line.removeprefix("Requires-Dist: ") for line in metadata.splitlines() if line.startswith("Requires-Dist")}
    needed = {Requirement(text) for text in asked if "extra ==" not in text}
    assert needed == {Requirement(text) for text in PROJECT["dependencies"]}
    assert not [each for each in needed if "==" in str(each.specifier)]
    assert f"Requires-Python: {PROJECT['requires-python']}\n" in metadata
    assert f"Version: {VERSION}\n" in metadata


HOST = """DefaultEnvironment(tools=[])
env = Environment(tools=["default", "n6"], toolpath=[PyPackageDir("n6build.site_tools")])
Default(env.N6Network(model="keyword", board="nucleo-n657").objects)
"""


@pytest.mark.slow
def test_a_host_s_script_finds_the_tool_in_the_package(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "SConstruct").write_text(HOST)
    check_host(installed, tmp_path)


def check_host(bin: Path, folder: Path) -> None:
    """Check that a host builds, does nothing the second time, and builds changes."""

    def scons() -> str:
        return done(bin / "python", "-m", "SCons", "-Q", cwd=folder)

    shutil.copy(ROOT / "models/keyword/keyword.tflite", folder / "net.tflite")
    text = (folder / "SConstruct").read_text().replace('"keyword"', '"net.tflite"')
    (folder / "SConstruct").write_text(text)
    assert "libn6networks.a" in scons()
    assert "is up to date" in scons()
    # The new model has the same size, and comes within the same second.
    shutil.copy(ROOT / "models/anomaly/anomaly.tflite", folder / "net.tflite")
    assert "network.c" in scons()


@pytest.mark.slow
@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_the_ends_of_the_ranges(which: str, wheel: Path, tmp_path: Path) -> None:
    """The environment is empty, and the wheels come from a folder.

    The installation asks no index, but fetching the wheels needs the network.
    """
    wheels, bin = tmp_path / "wheels", tmp_path / "venv/bin"
    constraints = tmp_path / "constraints.txt"
    limits = [Requirement(text) for text in PROJECT["dependencies"]]
    oldest = [
        f"{each.name}=={min(limit.version for limit in each.specifier if '>' in limit.operator)}\n" for each in limits
    ]
    constraints.write_text("".join(oldest) if which == "oldest" else "")
    if which == "oldest" and sys.version_info[:2] > (3, 11):
        pytest.skip("the oldest packages are those of the oldest Python")
    pip = (sys.executable, "-m", "pip")
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    fetched = call(*pip, "wheel", "--quiet", "-w", wheels, "-c", constraints, wheel, cwd=tmp_path, **settings)
    if fetched.returncode:
        pytest.skip(f"packages cannot be fetched: {fetched.stderr[-300:]}")
    done(sys.executable, "-m", "venv", bin.parent, cwd=tmp_path)
    install = (bin / "python", "-m", "pip", "install", "--no-index", "--find-links", wheels, "n6build")
    done(*install, cwd=tmp_path)
    here = tmp_path / "here"
    here.mkdir()
    assert n6build(bin, here, "--version") == f"n6build {VERSION}\n"
    if which == "oldest":
        shown = call(bin / "python", "-m", "SCons", "--version", cwd=here).stdout
        assert "SCons: v4.5.1" in shown
    assert "Flashed" in n6build(bin, here, "flash", "model=keyword", "probe=virtual")
    (here / "SConstruct").write_text(HOST)
    check_host(bin, here)


def test_scons_finds_the_tools_in_the_package(installed: Path, tmp_path: Path) -> None:
    script = (ROOT / "SConstruct").read_text()
    toolpath = 'toolpath=[DefaultEnvironment().PyPackageDir("n6build.site_tools")], tools=["n6"'
    (tmp_path / "SConstruct").write_text(script.replace('tools=["n6"', toolpath))
    done(installed / "python", "-m", "SCons", "-Q", "network", "model=keyword", cwd=tmp_path)
    assert "Nothing to do" in n6build(installed, tmp_path, "network", "model=keyword")


@pytest.mark.slow
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
            done(*command, cwd=tmp_path / name, PATH=path)
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
    # Only SCons in a checkout reads this file.
    not_held = {"site_init.py"}
    assert held == {name for name in library - not_held if not name.startswith("site_tools/")} | tools | data
