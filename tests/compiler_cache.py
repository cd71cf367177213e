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


def use_compiler_cache() -> None:
    """For this process and what it starts; without ccache, nothing."""
    ccache, compiler = shutil.which("ccache"), shutil.which(COMPILER)
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "n6build" / "tests"
    if ccache is None or compiler is None or Path(compiler).parent == folder:
        return
    # Preprocessed each time: what ccache remembers of headers does not know of one that appears in front of another.
    settings = f"CCACHE_NODIRECT=1 CCACHE_DIR={shlex.quote(str(folder / 'ccache'))} CCACHE_MAXSIZE=1G"
    script = folder / COMPILER
    text = f'#!/bin/sh\n{settings} exec {shlex.quote(ccache)} {shlex.quote(compiler)} "$@"\n'
    if not script.is_file() or script.read_text() != text:
        folder.mkdir(parents=True, exist_ok=True)
        ours = folder / f"{COMPILER}.{os.getpid()}"
        ours.write_text(text)
        ours.chmod(0o755)
        ours.replace(script)
    os.environ["PATH"] = os.pathsep.join([str(folder), os.environ["PATH"]])
