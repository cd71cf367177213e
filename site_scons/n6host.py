"""Choices from the script of a host project, for the SCons tools in site_tools/."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from n6build.base.console import without_colour
from n6build.base.environment import option_values
from n6build.base.paths import project_path
from n6build.describe.choices import Choices, choices_of
from n6build.describe.host_program import HostProgram, options_for_us
from n6build.describe.invocation import Invocation
from n6build.describe.option import Setting, chosen
from n6build.describe.project_settings import resolve
from n6build.engine.plan import Plan
from n6scons import reported
from SCons.Defaults import processDefines
from SCons.Script import ARGUMENTS, Flatten, GetLaunchDir

_HERE = str(Path(__file__).resolve().parent)
# Options whose values are paths.
_FILES = {
    "model",
    "cmsis",
    "romfs",
    "fsbl",
    "data",
    "inputs",
    "expected",
    "audio",
    "log",
    "sign",
    "linker_map",
    "linker_script",
}


@dataclass(frozen=True)
class Network:
    """Networks that a program of the host project links.

    Attributes:
        choices: Choices that the networks are built with.
        objects: Sources of the program's link: libraries first, and a linker script with the places
            of memory pools.
        include: Folders of n6_network.h, and of the generated headers.
    """

    choices: Choices
    objects: list[Any]
    include: list[Any]

    def flags(self, env: Any) -> dict[str, Any]:
        """Return the construction variables for the program, those of `env` included."""
        # The libraries come once more, behind the program's own objects: a linker takes from a library only the symbols that
        # are missing when it reaches the library. The kernels use functions of the mathematical library.
        libraries = [node for node in self.objects if str(node).endswith(".a")]
        return {
            "CPPPATH": [*Flatten(env.get("CPPPATH", [])), *self.include],
            "LIBS": [*Flatten(env.get("LIBS", [])), *libraries, "m"],
        }


@dataclass(frozen=True)
class Application:
    """Files that go to flash for a program.

    Attributes:
        choices: Choices that the files are built with.
        elf: The program.
        files: All files that are built, the flash manifest first; building them also checks them.
    """

    choices: Choices
    elf: Any
    files: list[Any]


def planned_nodes(env: Any, choices: Choices, goals: list[str]) -> tuple[Plan, dict[str, Any]]:
    """Return the plan, and its nodes by path."""
    plan = env.N6Plan(choices, goals, place_of_call())
    return plan, env.N6Steps(plan)


def compiled_program(env: Any, name: str, sources: Any) -> HostProgram:
    """Return a program that n6build compiles from sources of the host project.

    Args:
        env: Environment as for a Program of the host; its CPPPATH, CPPDEFINES and CCFLAGS are used.
        name: Name of the program.
        sources: Its C files.
    """
    # The variables have quotes for the shell that compiles a Program of the host.
    defines = [each for define in processDefines(env.get("CPPDEFINES", [])) for each in shlex.split(env.subst(define))]
    flags = [each for flag in env.subst_list("$CCFLAGS")[0] for each in shlex.split(str(flag))]
    return HostProgram(
        name,
        sources=tuple(source_path(node) for node in env.arg2nodes(sources, env.fs.File)),
        include_folders=tuple(_include_folders(env)),
        defines=tuple(defines),
        flags=tuple(flags),
    )


def choices_of_host(env: Any, program: HostProgram, given: dict[str, Any]) -> Choices:
    """Return the choices of a builder, and put the options of the call into `env`.

    The build ends with an error for an invalid option.

    Args:
        env: Environment of the builder.
        program: Program that the networks are for.
        given: Arguments of the builder by name; empty texts are ignored.
    """
    at, top, launched = place_of_call(), Path(env.fs.Top.get_abspath()), Path(GetLaunchDir())
    script = {
        name: Setting(_text(env, name, value), at, name, is_explicit=True)
        for name, value in given.items()
        if value != ""
    }
    with reported(env):
        settings = resolve(options_for_us(ARGUMENTS), option_values(), top, script)
        invocation = chosen(Invocation, settings, launched)
        if invocation.no_color:
            without_colour()
        choices = choices_of(settings, launched)
    env.Replace(
        N6_CACHE=invocation.cache,
        N6_CACHE_WRITE=invocation.cache_write,
        N6_CACHE_LIMIT=invocation.cache_limit,
        N6_REMOTE=invocation.remote,
        N6_VERBOSE=invocation.verbose or choices.verbosity == 2,
    )
    # Each application has a virtual board of its own.
    pair = "-".join([*(Path(model).stem for model in choices.models), program.name])
    return replace(choices, program=program, pair=pair)


def _text(env: Any, name: str, value: Any) -> str:
    """Return a value as on a command line, files by their absolute paths."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Iterable) and not isinstance(value, str):
        return (os.pathsep if name == "cmsis" else ",").join(_text(env, name, each) for each in value)
    if name not in _FILES and not hasattr(value, "get_abspath"):
        return str(value)
    node = value if hasattr(value, "get_abspath") else env.fs.Entry(str(value))
    path = Path(source_path(node)).absolute()
    # A model may be the name of one that comes with n6build, and sign=tool does not name a folder.
    is_word = isinstance(value, str) and name in ("model", "sign") and "/" not in value and not path.is_file()
    return str(value) if is_word else str(path)


def source_path(node: Any) -> str:
    """Return the path of a source as steps name it.

    A file without a builder is read from its source folder, also if the node is in a variant
    folder.
    """
    return project_path((node if node.has_builder() else node.srcnode()).get_abspath())


def _include_folders(env: Any) -> list[str]:
    """Return the folders of CPPPATH, both for generated headers and for others.

    Generated headers are in the variant folder, others in the source folder.
    """
    found: dict[str, None] = {}
    for folder in Flatten(env.get("CPPPATH", [])):
        node = folder if hasattr(folder, "get_abspath") else env.Dir(env.subst(folder))
        found |= dict.fromkeys((project_path(node.get_abspath()), project_path(node.srcnode().get_abspath())))
    return list(found)


def place_of_call() -> str:
    """Return file:line of the script that calls a builder."""
    frame = sys._getframe(1)
    ours = (
        _HERE,
        str(Path(sys.modules["SCons"].__file__ or "").parent),
        str(Path(sys.modules["contextlib"].__file__ or "")),
    )
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
        frame = frame.f_back
    return f"{project_path(frame.f_code.co_filename)}:{frame.f_lineno}"
