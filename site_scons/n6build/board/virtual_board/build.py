"""Build of the emulator, once for each user and each content of its sources.

    python -m n6build.board.virtual_board.build

Sources are our machine files and the chip's description. QEMU comes from the distribution's source
package: only the Cortex-M part, with the machine of tools/virtual_board. The configured tree stays in
the cache, so that a changed machine file or another chip takes only seconds.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path

from n6build.base.console import say
from n6build.base.environment import for_installing, read_environment
from n6build.base.errors import N6Error
from n6build.base.file_lock import lock
from n6build.base.files import write_atomically
from n6build.base.regular_file import content_of
from n6build.board.virtual_board.machine import machine_sources
from n6build.board.virtual_board.qemu import Release, release_here
from n6build.board.virtual_board.source_package import fetch_source
from n6build.describe.hardware.boards import board_names, load_board
from n6build.describe.hardware.soc import Soc

BINARY = "qemu-system-arm"
# Programs of a virtual environment, as meson writes them into build.ninja.
_PROGRAMS = re.compile(r"(?<=[ =])/[^\s$]+/bin/(?:python[\d.]*|meson|ninja)(?=[\s|])")
# After this error, everything except the virtual board can be used.
NOT_HERE = "N6-VB-002"
# Packages needed to build, with the module or command that shows whether one is installed.
_PACKAGES = {
    "libglib2.0-dev": "glib-2.0",
    "libpixman-1-dev": "pixman-1",
    "zlib1g-dev": "zlib",
}
_COMMANDS = {
    "gcc": "gcc",
    "flex": "flex",
    "bison": "bison",
    "bzip2": "bzip2",
    "ninja-build": "ninja",
    "pkg-config": "pkg-config",
    "xz-utils": "xz",
    "make": "make",
}


def find_emulator(soc: Soc) -> Path:
    """Return the emulator for this chip and the current machine files.

    Raises:
        N6Error: N6-VB-001 if it has not been built; N6-VB-008.
    """
    binary = place_of_emulator(machine_sources(soc))
    if not binary.is_file():
        raise N6Error(
            "N6-VB-001",
            f"the virtual board was not built for {soc.name} in its present description, or not with these machine "
            f"files",
            hint="run make setup, or python -m n6build.board.virtual_board.build (some minutes, once)",
        )
    return binary


def place_of_emulator(sources: dict[str, str]) -> Path:
    """Return the path of the emulator; it exists only after a build.

    Args:
        sources: Result of `machine_sources`.

    Raises:
        N6Error: N6-VB-008.
    """
    return _binary(sources, release_here())


def emulators_here() -> tuple[str, str]:
    """Return the folder of all emulators, and the release of QEMU.

    Together with this checkout they decide which emulator is used.

    Raises:
        N6Error: N6-VB-008.
    """
    return str(_cache()), release_here().version


def build_emulator(soc: Soc) -> Path:
    """Return the emulator for this chip, after a build if necessary.

    Raises:
        N6Error: N6-VB-002 to N6-VB-005; N6-VB-008; N6-FILE-00x.
    """
    sources, release = machine_sources(soc), release_here()
    binary = _binary(sources, release)
    if binary.is_file():
        return binary
    with _one_at_a_time():
        if binary.is_file():
            return binary
        if not _tree(release).is_dir():
            # The source comes first: without it, no package is worth installing.
            say("Emulator", f"fetching QEMU {release.version}'s source")
            fetch_source(_cache() / "source", release.version)
        _require_packages()
        tree = _unpacked(release)
        _add_machine(tree, sources)
        _compile(tree, release)
        binary.parent.mkdir(parents=True, exist_ok=True)
        temporary = binary.with_suffix(".new")
        shutil.copy2(tree / "build" / BINARY, temporary)
        subprocess.run(["strip", "--strip-debug", str(temporary)], check=False)
        temporary.replace(binary)
    say("Emulator", f"ready for {soc.name}, on QEMU {release.version}")
    return binary


def chips() -> list[Soc]:
    """Return the chips of all boards of this project, sorted by name."""
    return sorted({soc.name: soc for soc in (load_board(name).soc for name in board_names())}.values(), key=_name)


def _name(soc: Soc) -> str:
    return soc.name


def _cache() -> Path:
    return user_cache_path("n6build") / "virtual_board"


def _binary(sources: dict[str, str], release: Release) -> Path:
    key = hashlib.sha256()
    for name, text in sorted(sources.items()):
        key.update(f"{name}\0{text}\0".encode())
    key.update(_recipe(release).encode())
    return _cache() / key.hexdigest()[:16] / BINARY


def _recipe(release: Release) -> str:
    return hashlib.sha256(repr((release.configure, release.edits)).encode()).hexdigest()[:16]


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    _cache().mkdir(parents=True, exist_ok=True)
    with (_cache() / "build.lock").open("w") as file:
        lock(file.fileno())
        yield


def _require_packages() -> None:
    missing = [package for package, command in _COMMANDS.items() if shutil.which(command) is None]
    has_pkg_config = shutil.which("pkg-config") is not None
    for package, module in _PACKAGES.items():
        if not has_pkg_config or subprocess.run(["pkg-config", "--exists", module], check=False).returncode:
            missing.append(package)
    if not Path("/usr/include/libfdt.h").is_file():
        missing.append("libfdt-dev")
    if missing:
        _install(missing)


def _install(packages: list[str]) -> None:
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    shown = f"apt-get update && {' '.join(command)}"
    if shutil.which("apt-get") is None or (prefix and shutil.which("sudo") is None):
        raise N6Error("N6-VB-004", f"these packages are missing: {' '.join(packages)}", hint=f"run as root: {shown}")
    say("Packages", " ".join(packages))
    environment = for_installing(DEBIAN_FRONTEND="noninteractive")
    for step in (["apt-get", "update", "--quiet"], command):
        if subprocess.run([*prefix, *step], env=environment, stdout=subprocess.DEVNULL, check=False).returncode:
            raise N6Error("N6-VB-004", f"installing {' '.join(packages)} failed", hint=f"run as root: {shown}")


def _tree(release: Release) -> Path:
    return _cache() / f"qemu-{_recipe(release)}"


def _unpacked(release: Release) -> Path:
    """Return QEMU's tree, unpacked completely or not at all."""
    tree = _tree(release)
    if tree.is_dir():
        return tree
    tarball = fetch_source(_cache() / "source", release.version)
    unpacking = _cache() / "qemu.new"
    shutil.rmtree(unpacking, ignore_errors=True)
    say("Emulator", "unpacking")
    unpacking.mkdir()
    if subprocess.run(
        ["tar", "--extract", "--file", str(tarball), "--directory", str(unpacking)], check=False
    ).returncode:
        raise N6Error(
            "N6-VB-005", "QEMU's source could not be unpacked", hint="check the free disk space and try again"
        )
    inside = next(path for path in unpacking.iterdir() if path.is_dir())
    _prepare(inside, release)
    inside.rename(tree)
    shutil.rmtree(unpacking)
    return tree


def _prepare(tree: Path, release: Release) -> None:
    """Add our device configuration and edits, and remove firmware blobs.

    The distribution's source lacks these blobs.
    """
    (tree / "pc-bios" / "meson.build").write_text("roms = []\n")
    (tree / "configs" / "devices" / "arm-softmmu" / "n6.mak").write_text("CONFIG_STM32N6VIRT=y\n")
    for name, old, new in release.edits:
        path = tree / name
        text = content_of(path).decode()
        if text.count(old) != 1:
            what = f"the source of QEMU {release.version} differs from the expected one"
            raise N6Error("N6-VB-005", what, where=name, hint="use Debian's, of version 12 or 13")
        path.write_text(text.replace(old, new))


def _add_machine(tree: Path, sources: dict[str, str]) -> None:
    """Write changed machine files to QEMU's tree.

    Unchanged files keep their time stamps, so that ninja compiles only changed ones.
    """
    folder = tree / "hw" / "arm"
    present = {path.name for path in folder.glob("n6virt_*.c")}
    wanted = {name for name in sources if name.startswith("n6virt_") and name.endswith(".c")}
    for name in present - wanted:
        (folder / name).unlink()
    ninja = tree / "build" / "build.ninja"
    configured = content_of(ninja).decode() if ninja.is_file() else ""
    if present - wanted or any(name not in configured for name in wanted):
        # meson looks for machine files only when it reads this file again.
        (folder / "meson.build").touch()
    for name, text in sources.items():
        path = folder / name
        if not path.is_file() or content_of(path).decode() != text:
            write_atomically(path, text)


def _compile(tree: Path, release: Release) -> None:
    build = tree / "build"
    tools = for_installing(PATH=f"{Path(sys.executable).parent}:{read_environment().path}")
    if not is_usable(build / "build.ninja"):
        say("Emulator", "configuring")
        shutil.rmtree(build, ignore_errors=True)
        build.mkdir()
        meson = shutil.which("meson", path=tools["PATH"])
        if meson is None:
            raise N6Error("N6-VB-005", "meson is missing from the virtual environment", hint="make setup")
        tool = f"--meson={meson}" if release.names_meson else f"--python={sys.executable}"
        # The binary identifies a run, so that it must not depend on the user's home folder.
        portable = f"--extra-cflags=-ffile-prefix-map={tree}=."
        _logged(["../configure", *release.configure, portable, tool], build, tools)
    say("Emulator", "compiling (two to five minutes the first time)")
    _logged(["ninja", BINARY], build, tools)


def is_usable(ninja: Path) -> bool:
    """Return true if a tree is configured, with programs that still exist.

    All checkouts of a user share the tree, which names the Python of the checkout that configured it.

    Args:
        ninja: build.ninja of the tree.
    """
    if not ninja.is_file():
        return False
    return all(
        Path(program).exists() for program in set(_PROGRAMS.findall(content_of(ninja).decode("utf-8", "replace")))
    )


def _logged(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Run a command with its output in a log; raise N6-VB-005 with the end of the log.

    A terminal shows a step counter.
    """
    log = folder / "n6build.log"
    shown = sys.stdout.isatty()
    with (
        log.open("w") as file,
        subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        for text in process.stdout:
            file.write(text)
            step = re.match(r"\[(\d+)/(\d+)\]", text)
            if step and shown:
                print(f"\r{step[0]:>24}", end="", flush=True)
            elif step and int(step[1]) % 200 == 0:
                say("Emulator", f"step {step[1]} of {step[2]}")
    if shown:
        print("\r" + " " * 24 + "\r", end="")
    if process.returncode:
        end = "\n  ".join(content_of(log).decode("utf-8", "replace").strip().splitlines()[-12:])
        raise N6Error(
            "N6-VB-005",
            f"building the emulator failed:\n  {end}",
            where=log.name,
            hint="remove n6build's cache folder and try again",
        )


def main() -> int:
    """Build the emulator for every chip, and return the exit status.

    The status is 1 after an error, which is printed, or 3 if QEMU's source is not available on this
    system.
    """
    try:
        for soc in chips():
            build_emulator(soc)
    except N6Error as error:
        print(error, file=sys.stderr)
        return 3 if error.id == NOT_HERE else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
