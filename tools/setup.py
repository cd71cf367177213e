"""Installs what n6build needs, once: system packages, a virtual environment, the virtual board's emulator.

    python3 tools/setup.py            everything
    python3 tools/setup.py --no-virtual-board
    python3 tools/setup.py --browser          also a browser, with which the tests look at the report

Needs only Python's standard library. Steps that are already done cost nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "n6build.ready"
EXTRAS = "compare,test,virtual-board"
# What a project that embeds n6build has at least: the tests take it beside the newest.
OLDEST = {"cmake": "3.21.4"}


def main() -> int:
    """Exit status: 0, or 1 after an error, which is printed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-virtual-board", action="store_true", help="real boards only: no emulator is built")
    parser.add_argument("--browser", action="store_true", help="for the tests: headless Chromium")
    arguments = parser.parse_args()
    if sys.version_info < (3, 11):
        return fail(f"Python {sys.version.split()[0]} is too old", "install Python 3.11 or newer")
    missing = missing_packages() + (["chromium"] if arguments.browser and shutil.which("chromium") is None else [])
    return install_packages(missing) or make_environment() or build_emulator(not arguments.no_virtual_board)


def missing_packages() -> list[str]:
    """Names of the distribution's packages that are needed and not installed."""
    missing = []
    if importlib.util.find_spec("ensurepip") is None:
        missing.append("python3-venv")
    if shutil.which("arm-none-eabi-gcc") is None:
        missing.append("gcc-arm-none-eabi")
    if not newlib_is_there():
        missing.append("libnewlib-arm-none-eabi")
    return missing


def newlib_is_there() -> bool:
    """Whether the compiler finds newlib-nano."""
    if shutil.which("arm-none-eabi-gcc") is None:
        return False
    command = ["arm-none-eabi-gcc", "-print-file-name=nano.specs"]
    return "/" in subprocess.run(command, capture_output=True, text=True, check=False).stdout


def install_packages(packages: list[str]) -> int:
    """Exit status: 0, or 1 after an error. Asks for root through sudo."""
    if not packages:
        return 0
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    shown = f"apt-get update && {' '.join(command)}"
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    if shutil.which("apt-get") is None or (prefix and shutil.which("sudo") is None):
        return fail(f"these packages are missing: {' '.join(packages)}", f"as root: {shown}")
    say("Packages", " ".join(packages))
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update", "--quiet"], command):
        if subprocess.run([*prefix, *step], env=environment, stdin=None, check=False).returncode:
            return fail(f"installing {' '.join(packages)} failed", f"as root: {shown}")
    return 0


def make_environment() -> int:
    """The virtual environment. Its stamp holds the hash of all pins: new ones are installed, unchanged ones are skipped."""
    pins = (ROOT / "pyproject.toml").read_bytes() + repr(OLDEST).encode()
    wanted = hashlib.sha256(pins + sys.version.encode()).hexdigest()
    if STAMP.is_file() and STAMP.read_text() == wanted:
        return 0
    say("Python", "virtual environment with pinned packages (.venv)")
    install = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = [
        [sys.executable, "-m", "venv", str(VENV)],
        [*install, "--editable", f"{ROOT}[{EXTRAS}]"],
        *(
            [*install, "--upgrade", "--target", str(VENV / "oldest" / name), f"{name}=={version}"]
            for name, version in OLDEST.items()
        ),
    ]
    for step in steps:
        if subprocess.run(step, check=False).returncode:
            return fail("the virtual environment could not be made", f"try again: rm -r .venv; {' '.join(step)}")
    STAMP.write_text(wanted)
    return 0


def build_emulator(wanted: bool) -> int:
    """Exit status: 0 if it is not wanted, else that of the build."""
    if not wanted:
        return 0
    return subprocess.run([str(PYTHON), "-m", "n6build.virtual_board.build"], cwd=ROOT, check=False).returncode


def say(verb: str, what: str) -> None:
    """Prints a line in the form of n6build's console, which cannot be imported yet."""
    print(f"{verb:>11} {what}", flush=True)


def fail(what: str, hint: str) -> int:
    """Prints an error N6-SETUP-001; always 1, the exit status."""
    print(f"error N6-SETUP-001: {what}\n  hint: {hint}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
