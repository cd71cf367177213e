"""A copied tree with another tree's .venv refuses to test the other tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import setup
from this_tree import ROOT, foreign_code

_OF_TESTS = (
    "conftest.py",
    "this_tree.py",
    "compiled_library.py",
    "compiler_cache.py",
    "compiler_cache.c",
    "durations.py",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Copy the files that every test starts with, and add a test that leaves a file."""
    copy = tmp_path / "copy"
    (copy / "tests").mkdir(parents=True)
    for name in _OF_TESTS:
        shutil.copy(ROOT / "tests" / name, copy / "tests")
    shutil.copy(ROOT / "pyproject.toml", copy)
    shutil.copytree(ROOT / "site_scons", copy / "site_scons", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "tests" / "test_one.py").write_text("def test_one() -> None:\n    open('ran', 'w').close()\n")
    return copy


def run_tests(tree: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_one.py"]
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(command, cwd=tree, env=variables, capture_output=True, text=True, check=False)


def test_the_code_of_another_tree_is_not_tested(tree: Path) -> None:
    done = run_tests(tree, PYTHONPATH="")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: the tests of {tree} would test the code of another tree:" in done.stderr
    assert f"import n6build: {ROOT / 'site_scons/n6build/__init__.py'}\n" in done.stderr
    assert f"import n6scons: {ROOT / 'site_scons/n6scons.py'}\n" in done.stderr
    assert "hint: run make setup here" in done.stderr
    assert not (tree / "ran").exists()


def test_the_code_of_this_tree_is_tested(tree: Path) -> None:
    done = run_tests(tree, PYTHONPATH=str(tree / "site_scons"))
    assert done.returncode == 0, done.stderr
    assert (tree / "ran").exists()


def environment_in(tree: Path) -> Path:
    """Copy the .venv that runs this test, without its packages."""
    ours = Path(sys.prefix)
    (tree / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ours / "pyvenv.cfg", tree / ".venv")
    (tree / ".venv" / "bin" / "python").symlink_to(ours / "bin" / "python")
    (tree / ".venv" / "lib").symlink_to(ours / "lib")
    shutil.copy(ROOT / "tools" / "packaging" / "n6build.sh", tree / ".venv" / "bin" / "n6build")
    return tree / ".venv"


def test_the_command_of_a_copied_environment_is_that_of_the_other_tree(tree: Path) -> None:
    environment_in(tree)
    assert f"n6build's Python in .venv: {ROOT / 'site_scons/n6build/__init__.py'}" in foreign_code(tree)


def test_the_command_of_a_linked_environment_is_that_of_the_other_tree(tree: Path, tmp_path: Path) -> None:
    elsewhere = environment_in(tmp_path / "other")
    (tree / ".venv").symlink_to(elsewhere)
    assert any(each.startswith("n6build's front in .venv: ") for each in foreign_code(tree))


def test_a_command_without_its_python_is_reported(tree: Path) -> None:
    (environment_in(tree) / "bin" / "python").unlink()
    assert "n6build's Python in .venv: not found" in foreign_code(tree)


@pytest.mark.parametrize(
    ("settings", "copied"),
    [
        ("command = /usr/bin/python3 -m venv {here}/.venv\n", False),
        ("home = /usr/bin\ncommand = /usr/bin/python3 -m venv --clear {here}/.venv\n", False),
        ("command = /usr/bin/python3 -m venv /other{here}/.venv\n", True),
        ("command = /usr/bin/python3 -m venv {here}/.venv2\n", True),
        ("home = /usr/bin\n", False),
        (None, False),
    ],
)
def test_setup_replaces_an_environment_made_at_another_place(
    tmp_path: Path, settings: str | None, copied: bool
) -> None:
    environment = tmp_path / ".venv"
    environment.mkdir()
    if settings is not None:
        (environment / "pyvenv.cfg").write_text(settings.format(here=tmp_path))
    assert setup.is_copied(environment) is copied
