"""Set-up of n6build: system packages, a virtual environment, the emulator.

    python3 tools/setup.py            everything
    python3 tools/setup.py --no-virtual-board
    python3 tools/setup.py --tests            also the tools of the tests: a browser that looks at the report, ccache,
                                              and servers to talk to

Needs only Python's standard library. Steps that are already done cost nothing. System packages are
installed if apt-get is there; otherwise their names are printed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
COMMAND = VENV / "bin" / "n6build"
STAMP = VENV / "n6build.ready"
LOCKS = ROOT / "requirements"
OLDEST = (3, 11)
# The servers of the tests have an environment of their own, since they need other versions than n6build does.
SERVERS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "n6build" / "servers"
# Each system has its own names of packages for these parts, and a command to install them, by ID or ID_LIKE of its os-release.
# Arm's own toolchain, which macOS has, includes newlib.
COMPILER, LIBRARY, ENVIRONMENTS = "compiler", "newlib", "venv"
BROWSER, CCACHE, DATABASE, SANDBOX, TOKEN = "browser", "ccache", "database", "sandbox", "token"
# Its package has this name on all of them.
GRAPHVIZ = "graphviz"
_SYSTEMS = ("debian", "fedora", "arch", "alpine", "macos")
_PACKAGES = {
    COMPILER: "gcc-arm-none-eabi arm-none-eabi-gcc-cs arm-none-eabi-gcc gcc-arm-none-eabi gcc-arm-embedded",
    LIBRARY: "libnewlib-arm-none-eabi arm-none-eabi-newlib arm-none-eabi-newlib newlib-arm-none-eabi gcc-arm-embedded",
    ENVIRONMENTS: "python3-venv python3 python python3 python3",
    BROWSER: "chromium chromium chromium chromium chromium",
    CCACHE: "ccache ccache ccache ccache ccache",
    DATABASE: "postgresql postgresql-server postgresql postgresql postgresql",
    SANDBOX: "bubblewrap bubblewrap bubblewrap bubblewrap bubblewrap",
    TOKEN: "softhsm2 softhsm softhsm softhsm softhsm",
}
APT = "run as root: apt-get update && apt-get install --yes --no-install-recommends"
INSTALL = {
    "debian": APT,
    "ubuntu": APT,
    "fedora": "run as root: dnf install",
    "arch": "run as root: pacman -S",
    "alpine": "run as root: apk add",
    "macos": "run brew install",
}
# `python -m n6build.board.virtual_board.build` ends with this status if the emulator's source cannot be obtained.
NOT_HERE = 3


def main() -> int:
    """Set up n6build; return 0, or 1 after an error, which is printed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-virtual-board", action="store_true", help="real boards only: does not build the emulator")
    parser.add_argument(
        "--tests",
        action="store_true",
        help="also installs the tools of the tests: Chromium, ccache, SoftHSM, servers, pyOCD",
    )
    arguments = parser.parse_args()
    if sys.version_info < OLDEST:
        return fail(
            f"Python {sys.version.split()[0]} is too old",
            "install Python 3.11 or newer, and run make setup PYTHON=python3.12 if its name is not python3",
        )
    missing = missing_parts() + (parts_for_tests() if arguments.tests else [])
    return (
        install_packages(missing)
        or make_environment()
        or (make_servers() if arguments.tests else 0)
        or (check_commits() if arguments.tests else 0)
        or build_emulator(not arguments.no_virtual_board)
    )


def check_commits() -> int:
    """Let Git check the messages of commits, and return 0.

    A checkout with hooks of its own keeps them.
    """
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        setting = [git, "-C", str(ROOT), "config", "core.hooksPath"]
        if subprocess.run(setting, capture_output=True, check=False).returncode:
            subprocess.run([*setting, "tools/hooks"], check=False)
    return 0


def missing_parts() -> list[str]:
    """Return the missing parts of the system, by their names in `_PACKAGES`."""
    missing = []
    if importlib.util.find_spec("ensurepip") is None:
        missing.append(ENVIRONMENTS)
    if shutil.which("arm-none-eabi-gcc") is None:
        missing.append(COMPILER)
    if not newlib_is_there():
        missing.append(LIBRARY)
    # Only pictures of plans need it: later calls do not ask for a password again.
    if shutil.which("dot") is None and not STAMP.is_file():
        missing.append(GRAPHVIZ)
    return missing


def parts_for_tests() -> list[str]:
    """Return the missing parts for the tests, like `missing_parts`."""
    programs: tuple[tuple[str, str], ...] = ((BROWSER, "chromium"), (CCACHE, "ccache"), (TOKEN, "softhsm2-util"))
    if sys.platform == "linux":
        programs = (*programs, (SANDBOX, "bwrap"))
    missing = [part for part, program in programs if shutil.which(program) is None]
    return missing if database_is_there() else [*missing, DATABASE]


def database_is_there() -> bool:
    """Return whether PostgreSQL's programs are there, which Debian keeps out of PATH."""
    return shutil.which("initdb") is not None or any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def system_names() -> list[str]:
    """Return this system's name, then those of similar systems, in lower case."""
    if sys.platform == "darwin":
        return ["macos"]
    try:
        found = platform.freedesktop_os_release()
    except OSError:
        return []
    return [found.get("ID", ""), *found.get("ID_LIKE", "").split()]


def newlib_is_there() -> bool:
    """Return whether the compiler finds newlib-nano."""
    if shutil.which("arm-none-eabi-gcc") is None:
        return False
    command = ["arm-none-eabi-gcc", "-print-file-name=nano.specs"]
    return "/" in subprocess.run(command, capture_output=True, text=True, check=False).stdout


def install_packages(parts: list[str]) -> int:
    """Install packages through sudo; return 0, or 1 after an error.

    The error names the packages of this system. If only Graphviz is missing, there is none: set-up goes
    on without pictures.
    """
    if not parts:
        return 0
    system = next((name for name in system_names() if name in INSTALL), None)
    if system is None:
        return not_installed(
            parts,
            f"missing on this system: {', '.join(parts)}",
            "install the Arm GNU Toolchain (arm-none-eabi-gcc with newlib) and Python's venv, then run make setup "
            "again",
        )
    is_debian = system in ("debian", "ubuntu")
    column = 0 if is_debian else _SYSTEMS.index(system)
    packages = list(dict.fromkeys(_PACKAGES[part].split()[column] if part in _PACKAGES else part for part in parts))
    shown = f"{INSTALL[system]} {' '.join(packages)}"
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    if not is_debian or shutil.which("apt-get") is None or (prefix and shutil.which("sudo") is None):
        return not_installed(
            parts, f"these packages are missing: {' '.join(packages)}", f"{shown}; then run make setup again"
        )
    say("Packages", " ".join(packages))
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    for step in (["apt-get", "update", "--quiet"], install):
        if subprocess.run([*prefix, *step], env=environment, stdin=None, check=False).returncode:
            return not_installed(parts, f"installing {' '.join(packages)} failed", shown)
    return 0


def not_installed(parts: list[str], what: str, hint: str) -> int:
    """Print that parts are missing; return 0 if n6build works without them, else 1."""
    if parts != [GRAPHVIZ]:
        return fail(what, hint)
    say("Without", f"pictures of plans ({what})")
    return 0


def make_environment() -> int:
    """Make the virtual environment, with exactly the packages of requirements/.

    Its stamp holds the hash of the lock files: changed packages are installed, and an unchanged
    environment is skipped.
    """
    read = [
        ROOT / "pyproject.toml",
        ROOT / "tools" / "packaging" / "n6build.sh",
        LOCKS / "build.lock",
        LOCKS / "development.lock",
        LOCKS / "oldest_cmake.lock",
    ]
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in read) + sys.version.encode()).hexdigest()
    copied = is_copied(VENV)
    if STAMP.is_file() and STAMP.read_text() == wanted and not copied:
        return 0
    say("Python", "virtual environment with the locked packages (.venv)")
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # The locked tools build packages here, not tools that a build would fetch for itself.
    locked = [*pip, "--require-hashes", "--no-build-isolation", "--requirement"]
    steps = [
        [sys.executable, "-m", "venv", *(["--clear"] if copied else []), str(VENV)],
        [*locked, str(LOCKS / "build.lock")],
        [*locked, str(LOCKS / "development.lock")],
        [*locked, str(LOCKS / "oldest_cmake.lock"), "--upgrade", "--target", str(VENV / "oldest" / "cmake")],
        [*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)],
    ]
    for step in steps:
        if subprocess.run(step, check=False).returncode:
            return fail("the virtual environment could not be made", f"run rm -r .venv; {' '.join(step)}")
    # pip's command takes a whole start of Python, which is most of the time of a call with nothing to do.
    shutil.copyfile(ROOT / "tools" / "packaging" / "n6build.sh", COMMAND)
    STAMP.write_text(wanted)
    return 0


def is_copied(environment: Path) -> bool:
    """Return whether a virtual environment was made at another place.

    Its commands and its n6build are those of that place.
    """
    try:
        settings = (environment / "pyvenv.cfg").read_text().splitlines()
    except OSError:
        return False
    commands = [line.partition("=")[2] for line in settings if line.partition("=")[0].strip() == "command"]
    # Some tools make environments without this line; the place of those is unknown.
    return any(not line.endswith(f" {environment}") for line in commands)


def make_servers() -> int:
    """Make the environment of `SERVERS`; return 0, or 1 after an error.

    It has exactly the packages of requirements/servers.lock.
    """
    lock, stamp = LOCKS / "servers.lock", SERVERS / "n6build.ready"
    wanted = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return 0
    say("Servers", f"virtual environment for the tests ({SERVERS})")
    install = [str(SERVERS / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = [
        [sys.executable, "-m", "venv", "--clear", str(SERVERS)],
        [*install, "--require-hashes", "--requirement", str(lock)],
    ]
    for step in steps:
        if subprocess.run(step, check=False).returncode:
            return fail(
                "the servers for the tests could not be installed", f"run rm -r {SERVERS}, then make setup-tests again"
            )
    stamp.write_text(wanted)
    return 0


def build_emulator(wanted: bool) -> int:
    """Build the emulator, and return the status of the build.

    The status is 0 if the emulator is not wanted or cannot be obtained on this system.
    """
    if not wanted:
        return 0
    status = subprocess.run([str(PYTHON), "-m", "n6build.board.virtual_board.build"], cwd=ROOT, check=False).returncode
    if status == NOT_HERE:
        say("Without", "the virtual board (probe=virtual); everything else is ready")
        return 0
    return status


def say(verb: str, what: str) -> None:
    """Print a line in the form of n6build's console, which cannot be imported yet."""
    print(f"{verb:>11} {what}", flush=True)


def fail(what: str, hint: str) -> int:
    """Print an error N6-SETUP-001, and return the exit status 1."""
    print(f"error N6-SETUP-001: {what}\n  hint: {hint}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
