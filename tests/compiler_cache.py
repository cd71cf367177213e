"""ccache for the tests, which build the same C in hundreds of project copies.

ccache compiles it once for all of them. Tested code does not notice it: the compiler in PATH is a
program that calls the real one, by its path, through ccache (compiler_cache.c). No command line has
its directory, since n6build's commands have relative paths only.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

COMPILER = "arm-none-eabi-gcc"
_FOLDER = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "n6build" / "tests"
_SOURCE = Path(__file__).with_name("compiler_cache.c")


def real_compiler() -> str | None:
    """Return the compiler's path, for tests that exchange a part of it.

    ccache would not notice the exchange.
    """
    folders = os.environ["PATH"].split(os.pathsep)
    others = (folder for folder in folders if not Path(folder).is_relative_to(_FOLDER))
    return shutil.which(COMPILER, path=os.pathsep.join(others))


@cache
def host_compiler() -> list[str]:
    """Return the command of this host's compiler, through ccache if installed."""
    ccache, compiler = shutil.which("ccache"), shutil.which("cc")
    return ["cc"] if ccache is None or compiler is None else [str(_launcher(ccache, compiler))]


def use_compiler_cache() -> None:
    """Use ccache in this process and its children.

    This does nothing without ccache or a compiler of this host.
    """
    ccache, compiler, host = shutil.which("ccache"), real_compiler(), shutil.which("cc")
    found = shutil.which(COMPILER)
    if ccache is None or compiler is None or host is None or found is None or Path(found).is_relative_to(_FOLDER):
        return
    os.environ["PATH"] = os.pathsep.join([str(_launcher(ccache, compiler).parent), os.environ["PATH"]])


def _launcher(ccache: str, compiler: str) -> Path:
    """Return the program that calls this compiler through ccache.

    It is in its own folder and has the compiler's name.
    """
    places = {"CCACHE": ccache, "COMPILER": compiler, "CCACHE_FOLDER": str(_FOLDER / "ccache")}
    defined = [f"-D{name}={json.dumps(place)}" for name, place in places.items()]
    host = shutil.which("cc")
    assert host is not None
    # Test runs of other checkouts may have a different program at the same time.
    digest = hashlib.sha256(_SOURCE.read_bytes() + " ".join([host, *defined]).encode()).hexdigest()[:16]
    program = _FOLDER / digest / Path(compiler).name
    if not program.is_file():
        program.parent.mkdir(parents=True, exist_ok=True)
        ours = program.with_name(f"{program.name}.{os.getpid()}")
        flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror"]
        subprocess.run([host, *flags, *defined, "-o", ours, _SOURCE], check=True)
        ours.replace(program)
    return program
