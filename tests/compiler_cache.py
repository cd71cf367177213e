"""The tests build the same C in hundreds of copies of the project: ccache compiles it once for all of them.

Nothing that is tested sees it: the compiler in PATH is a program that calls the real one, by its path, through ccache
(compiler_cache.c). Its directory is in no line of a command, since n6build's commands have relative paths only.
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
    """Its path, for tests that exchange a part of it, which ccache would not notice."""
    folders = os.environ["PATH"].split(os.pathsep)
    others = (folder for folder in folders if not Path(folder).is_relative_to(_FOLDER))
    return shutil.which(COMPILER, path=os.pathsep.join(others))


@cache
def host_compiler() -> list[str]:
    """The command of this host's compiler, through ccache if that is there."""
    ccache, compiler = shutil.which("ccache"), shutil.which("cc")
    return ["cc"] if ccache is None or compiler is None else [str(_launcher(ccache, compiler))]


def use_compiler_cache() -> None:
    """For this process and what it starts; without ccache, or a compiler of this host, nothing."""
    ccache, compiler, host = shutil.which("ccache"), real_compiler(), shutil.which("cc")
    found = shutil.which(COMPILER)
    if ccache is None or compiler is None or host is None or found is None or Path(found).is_relative_to(_FOLDER):
        return
    os.environ["PATH"] = os.pathsep.join([str(_launcher(ccache, compiler).parent), os.environ["PATH"]])


def _launcher(ccache: str, compiler: str) -> Path:
    """The program that calls this compiler through ccache, in a folder of its own; its name is the compiler's."""
    places = {"CCACHE": ccache, "COMPILER": compiler, "CCACHE_FOLDER": str(_FOLDER / "ccache")}
    defined = [f"-D{name}={json.dumps(place)}" for name, place in places.items()]
    host = shutil.which("cc")
    assert host is not None
    # Test runs of other checkouts may have a different one at the same time.
    digest = hashlib.sha256(_SOURCE.read_bytes() + " ".join([host, *defined]).encode()).hexdigest()[:16]
    program = _FOLDER / digest / Path(compiler).name
    if not program.is_file():
        program.parent.mkdir(parents=True, exist_ok=True)
        ours = program.with_name(f"{program.name}.{os.getpid()}")
        flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror"]
        subprocess.run([host, *flags, *defined, "-o", ours, _SOURCE], check=True)
        ours.replace(program)
    return program
