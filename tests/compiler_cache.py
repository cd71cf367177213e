"""The tests build the same C in hundreds of copies of the project: ccache compiles it once for all of them.

Nothing that is tested sees it: the compiler in PATH is a script that calls the real one, by its path, through ccache. Its
directory is in no line of a command, since n6build's commands have relative paths only.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

COMPILER = "arm-none-eabi-gcc"
_FOLDER = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "n6build" / "tests"


def real_compiler() -> str | None:
    """Its path, for tests that exchange a part of it, which ccache would not notice."""
    folders = os.environ["PATH"].split(os.pathsep)
    return shutil.which(COMPILER, path=os.pathsep.join(folder for folder in folders if folder != str(_FOLDER)))


def use_compiler_cache() -> None:
    """For this process and what it starts; without ccache, nothing."""
    ccache, compiler = shutil.which("ccache"), real_compiler()
    if ccache is None or compiler is None or shutil.which(COMPILER) == str(_FOLDER / COMPILER):
        return
    # Preprocessed each time: what ccache remembers of headers does not know of one that appears in front of another.
    settings = f"CCACHE_NODIRECT=1 CCACHE_DIR={shlex.quote(str(_FOLDER / 'ccache'))} CCACHE_MAXSIZE=1G"
    text = f'#!/bin/sh\n{settings} exec {shlex.quote(ccache)} {shlex.quote(compiler)} "$@"\n'
    script = _FOLDER / COMPILER
    if not script.is_file() or script.read_text() != text:
        _FOLDER.mkdir(parents=True, exist_ok=True)
        ours = _FOLDER / f"{COMPILER}.{os.getpid()}"
        ours.write_text(text)
        ours.chmod(0o755)
        ours.replace(script)
    os.environ["PATH"] = os.pathsep.join([str(_FOLDER), os.environ["PATH"]])
