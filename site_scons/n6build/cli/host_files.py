"""Files that n6build writes into the build folder for the build system of a host."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from n6build.base.environment import PROJECT, option_values
from n6build.base.errors import N6Error
from n6build.base.files import remove_unfinished, to_json, write_atomically
from n6build.base.paths import FIRMWARE, SCONS_TOOLS
from n6build.base.regular_file import content_of
from n6build.engine import ask
from n6build.engine.compile_commands import compile_commands
from n6build.engine.perform import Site
from n6build.engine.plan import Plan

MAKEFILE = Path(__file__).with_name("n6build.mk")
CMAKE_FOLDER = Path(__file__).with_name("cmake")
# Folder of n6_network.h.
INCLUDE_FOLDER = FIRMWARE / "appli"
# Places by the argument of n6build that prints them.
PLACES = {
    "--makefile": MAKEFILE,
    "--cmake-dir": CMAKE_FOLDER,
    "--include-dir": INCLUDE_FOLDER,
    "--scons-dir": SCONS_TOOLS,
}
# Hosts name files of the folder in their own rules, which may quote in any way.
_PLAIN = re.compile(r"[\w./+@-]+", re.ASCII)


def check_folder(folder: str) -> None:
    """Refuse a build folder that rules cannot name, or that contains the project.

    Raises:
        N6Error: N6-EMBED-002 for such a folder.
    """
    if not _PLAIN.fullmatch(folder) or folder.startswith("-"):
        what = f"the name of the build folder {folder!a} has other characters than letters, digits and ./+@_-"
        raise N6Error("N6-EMBED-002", what, hint="N6_BUILD=build/n6build")
    if os.path.commonpath([os.path.abspath(folder), os.getcwd()]) == os.path.abspath(folder):
        what = f"the build folder {folder!a} contains the project"
        raise N6Error(
            "N6-EMBED-002",
            what,
            hint="set N6_BUILD to a folder that only n6build uses, for example N6_BUILD=build/n6build",
        )


# Letters that make does not read as a part of a name, in one place or another.
_REFUSED = re.compile(r"[\x00-\x1f\x7f;|*?\[\]~\\`\"'<>=%:&!(){},]| \Z")
# Variables that affect the plan, besides those of options.
_VARIABLES = ("PATH", "STEDGEAI_CORE_DIR")

# With --library and a file, the script does nothing if library and images are up to date, and builds the library otherwise. It
# then writes the file, which makes the host's build look at the images.
_CALLS = """\
ask() {{ {asked} "$@" 2> /dev/null; }}
if [ "$1" = --library ]; then
    stamp=$2
    shift 2
    if [ -f "$stamp" ] && ask library build "$@"; then exit; fi
    ask library "$@" || {called} library "$@" || exit
    : > "$stamp"
else
    ask "$@" || exec {called} "$@"
fi
"""


def write_compilations(folder: Path, commands: str, plan: Plan, site: Site) -> None:
    """Write the compilations of n6build's own C files, for editors.

    Args:
        folder: Folder of all that n6build makes.
        commands: Name of the file in it.
        plan: Plan with all steps of the host's networks and images.
        site: Site where the steps are done.

    Raises:
        N6Error: N6-FILE-001 if the file cannot be written.
    """
    _write(folder / commands, to_json(compile_commands(plan, site.top)))


def write_makefile(folder: Path) -> None:
    """Write the file that the host's next make includes.

    Raises:
        N6Error: N6-EMBED-001 if make cannot name the place of n6build.
    """
    _write(folder / "n6build.mk", included(str(MAKEFILE), str(INCLUDE_FOLDER)))


def included(makefile: str, include: str) -> str:
    """Return the text of the file that a host's makefile includes.

    It includes n6build's own makefile, as long as that exists, and defines the command that asks
    the front.

    Args:
        makefile: Place of n6build.mk.
        include: Folder of n6_network.h.

    Raises:
        N6Error: N6-EMBED-001 for a place that make cannot name.
    """
    shown = make_name(makefile)
    asked = "$(or $(shell n6build --makefile),$(error n6build is not in PATH))"
    return (
        f"ifneq ($(wildcard {shown}),)\nn6_ask := {_command(ask_words())}\nn6_include := {_command([include])}\n"
        f"include {shown}\nelse\ninclude {asked}\nendif\n"
    )


def make_name(path: str) -> str:
    """Return a path as make reads it.

    Raises:
        N6Error: N6-EMBED-001 for a path that make cannot name.
    """
    bad = _REFUSED.search(path)
    if bad:
        what = f"a makefile cannot name {path!a}: it contains {bad[0]!a}"
        raise N6Error("N6-EMBED-001", what, hint="rename the file or its folder")
    return re.sub(r"[ #]", lambda found: f"\\{found[0]}", path.replace("$", "$$"))


def ask_words() -> list[str]:
    """Return the command that asks the front, without the words of the call."""
    return [sys.executable, "-I", "-S", str(Path(ask.__file__))]


def caller_script(executable: str) -> str:
    """Return a shell script that calls n6build as it was called here.

    It sets the same variables, since a later shell may have another compiler in PATH.

    Args:
        executable: The command n6build.
    """
    asked = f"{shlex.join(ask_words())} n6build"
    called = shlex.quote(executable)
    values = option_values()
    kept = {name: values[name] for name in sorted(values) if name.startswith("N6BUILD_") and name != "N6BUILD_PROBE"}
    kept |= {name: values[name] for name in (*_VARIABLES, PROJECT) if name in values}
    return f"#!/bin/sh\n{_exports(kept)}{_CALLS.format(asked=asked, called=called)}"


def _exports(values: Mapping[str, str]) -> str:
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items())


def _command(words: list[str]) -> str:
    return shlex.join(words).replace("$", "$$").replace("#", "\\#")


def _write(path: Path, text: str) -> None:
    try:
        if content_of(path).decode() == text:
            return
    except (OSError, ValueError):
        pass
    remove_unfinished(path)
    write_atomically(path, text)
