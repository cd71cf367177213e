"""Set-up names its needs on each system and installs the locked versions.

It also goes on without optional parts.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from called import call
from n6build.base.requirements import OLDEST_PYTHON, OLDEST_SCONS
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.try_setup import STEPS, mirror

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# Debian 12 and 13 ship these Pythons.
PYTHONS = ("3.11", "3.13")

SYSTEMS = {
    "Fedora": ({"ID": "fedora"}, "dnf install arm-none-eabi-gcc-cs arm-none-eabi-newlib"),
    "Rocky Linux": ({"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "dnf install arm-none-eabi-gcc-cs"),
    "Arch Linux": ({"ID": "arch"}, "pacman -S arm-none-eabi-gcc arm-none-eabi-newlib"),
    "Alpine Linux": ({"ID": "alpine"}, "apk add gcc-arm-none-eabi newlib-arm-none-eabi"),
    "Ubuntu": (
        {"ID": "ubuntu", "VERSION_ID": "24.04"},
        "--no-install-recommends gcc-arm-none-eabi libnewlib-arm-none-eabi",
    ),
    "Linux Mint": ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "libnewlib-arm-none-eabi"),
}


def set_up(
    folder: Path, system: dict[str, str] | None = None, python: str = sys.executable, before: str = "", path: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run set-up where there is neither a compiler nor apt-get.

    Args:
        system: The computer's os-release.
        before: Code that runs first in the same Python.
    """
    code = f"import platform, sys; platform.freedesktop_os_release = lambda: {system or {}!r}\n{before}\nimport setup\n"
    code += f"setup.VENV = setup.Path({str(folder)!r}) / 'venv'; setup.STAMP = setup.VENV / 'n6build.ready'\n"
    code += "sys.exit(setup.main())"
    environment = {"PYTHONPATH": str(ROOT / "tools"), "PATH": path or str(folder), "HOME": str(folder)}
    return call(python, "-c", code, cwd=folder, **environment)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_without_a_compiler_is_told_its_packages(name: str, tmp_path: Path) -> None:
    system, expected = SYSTEMS[name]
    result = set_up(tmp_path, system)
    assert result.returncode == 1
    assert "error N6-SETUP-001: these packages are missing: " in result.stderr
    assert expected in result.stderr
    assert "run as root: " in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_mac_is_told_what_to_brew(tmp_path: Path) -> None:
    result = set_up(tmp_path, before="sys.platform = 'darwin'")
    assert "hint: run brew install gcc-arm-embedded graphviz; then run make setup again" in result.stderr


@pytest.mark.parametrize("system", [{}, {"ID": "nixos"}])
def test_an_unknown_system_is_told_what_is_needed(system: dict[str, str], tmp_path: Path) -> None:
    result = set_up(tmp_path, system)
    assert (
        "N6-SETUP-001: missing on this system: compiler, newlib, graphviz\n  hint: install the Arm GNU Toolchain"
        in result.stderr
    )


def test_an_old_python_is_refused(tmp_path: Path) -> None:
    result = set_up(tmp_path, before="sys.version_info = (3, 10, 13, 'final', 0); sys.version = '3.10.13 (main)'")
    assert result.returncode == 1
    assert result.stderr.startswith(
        "error N6-SETUP-001: Python 3.10.13 is too old\n  hint: install Python 3.11 or newer"
    )
    assert "make setup PYTHON=python3.12" in result.stderr


def test_a_real_python_3_10_reads_the_file(tmp_path: Path) -> None:
    old = shutil.which("python3.10")
    if old is None or subprocess.run([old, "-c", ""], check=False, capture_output=True).returncode:
        pytest.skip("there is no Python 3.10 on this computer")
    assert "is too old" in set_up(tmp_path, python=old, path=os.environ["PATH"]).stderr


@pytest.mark.parametrize(("status", "ends_with"), [(0, 0), (1, 1), (3, 0)])
def test_only_the_virtual_board_is_missing_where_only_that_cannot_be_had(
    status: int, ends_with: int, tmp_path: Path
) -> None:
    """Set-up ends well if only the emulator's build cannot be had.

    Args:
        status: Exit status of the emulator's build.
    """
    before = f"""
import setup
setup.missing_parts = lambda: []
setup.make_environment = lambda: 0
setup.PYTHON = setup.Path({str(tmp_path)!r}) / "python"
"""
    (tmp_path / "python").write_text(f"#!/bin/sh\nexit {status}\n")
    (tmp_path / "python").chmod(0o755)
    result = set_up(tmp_path, {"ID": "ubuntu", "VERSION_ID": "24.04"}, before=before, path=os.environ["PATH"])
    assert result.returncode == ends_with
    assert ("Without the virtual board (probe=virtual); everything else is ready" in result.stdout) == (status == 3)


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        ({}, "missing on this system: graphviz"),
        ({"ID": "fedora"}, "these packages are missing: graphviz"),
        ({"ID": "debian"}, "installing graphviz failed"),
    ],
)
def test_only_pictures_are_missing_where_graphviz_cannot_be_had(
    system: dict[str, str], reason: str, tmp_path: Path
) -> None:
    for name, status in (("apt-get", 1), ("sudo", 1), ("python", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    before = f"""
import setup
setup.shutil.which = lambda name: None if name == "dot" else name
setup.newlib_is_there = lambda: True
setup.make_environment = lambda: 0
setup.PYTHON = setup.Path({str(tmp_path)!r}) / "python"
"""
    result = set_up(tmp_path, system, before=before)
    assert result.returncode == 0
    assert f"Without pictures of plans ({reason})" in result.stdout
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "n6build.ready").touch()
    assert "Without" not in set_up(tmp_path, system, before=before).stdout


def test_a_fresh_system_is_fetched_from_where_this_one_is() -> None:
    listing = "http://a/other|Other|main\nhttp://b/debian-security/|Debian|main\nhttp://c/debian/|Debian|main\n"
    assert mirror(listing) == "http://c/debian/"
    with pytest.raises(SystemExit, match="no package lists of Debian"):
        mirror("http://a/other|Other|main\n")


def test_a_fresh_system_gets_the_steps_of_ci() -> None:
    assert set(STEPS) < set((ROOT / ".ci/run").read_text().splitlines())


def pins(name: str) -> dict[str, list[Requirement]]:
    """Return package name -> its pins in a lock file, of which markers select one."""
    found: dict[str, list[Requirement]] = {}
    for line in (ROOT / f"requirements/{name}.lock").read_text().splitlines():
        if line and not line.startswith(("#", " ")):
            pin = Requirement(line.removesuffix(" \\"))
            found.setdefault(canonicalize_name(pin.name), []).append(pin)
    return found


def declared(*extras: str) -> list[Requirement]:
    listed = PROJECT["project"]["dependencies"]
    more = (each for extra in extras for each in PROJECT["project"]["optional-dependencies"][extra])
    return [Requirement(text) for text in [*listed, *more]]


@pytest.mark.parametrize(
    ("lock", "extras"), [("runtime", ()), ("development", ("compare", "quantise", "remote", "test", "virtual-board"))]
)
@pytest.mark.parametrize("python", PYTHONS)
def test_every_dependency_is_locked_within_its_range(lock: str, extras: tuple[str, ...], python: str) -> None:
    locked = pins(lock)
    for each in declared(*extras):
        here = [
            pin
            for pin in locked.get(canonicalize_name(each.name), [])
            if pin.marker is None
            or pin.marker.evaluate({"python_version": python, "python_full_version": f"{python}.1"})
        ]
        assert len(here) == 1, each
        (version,) = here[0].specifier
        assert version.operator == "=="
        assert each.specifier.contains(version.version), each


def test_a_lock_has_hashes_and_no_address() -> None:
    files = sorted((ROOT / "requirements").iterdir())
    assert {path.name for path in files} == {
        *(f"{name}.lock" for name in ("build", "development", "oldest_cmake", "resolver", "runtime", "servers")),
        "constraints.txt",
    }
    for path in files:
        text = path.read_text()
        assert not re.search(r"://|--(extra-)?index|--find-links|@ ", text), path.name
        if path.suffix == ".lock":
            entries = re.split(r"(?m)^(?=[a-z])", text)[1:]
            assert entries
            assert all("--hash=sha256:" in entry for entry in entries), path.name


def test_the_locks_agree() -> None:
    development = {name: [str(pin) for pin in each] for name, each in pins("development").items()}
    for lock in ("runtime", "build"):
        for name, each in pins(lock).items():
            assert [str(pin) for pin in each] == development[name]


def test_pyproject_has_ranges_and_no_pins() -> None:
    assert all(each.specifier for each in declared("compare", "quantise", "test", "virtual-board"))
    assert not [
        each for each in declared("compare", "quantise", "test", "virtual-board") if "==" in str(each.specifier)
    ]
    (scons,) = (each for each in declared() if each.name == "scons")
    assert scons.specifier.contains("4.11.1")
    # A checkout compares with these constants, because pip is not involved there.
    oldest = ".".join(map(str, OLDEST_SCONS))
    assert scons.specifier.contains(oldest)
    assert f">={oldest}" in str(scons.specifier)
    assert PROJECT["project"]["requires-python"] == ">=" + ".".join(map(str, OLDEST_PYTHON))
