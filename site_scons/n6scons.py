"""Shared by the SCons tools in site_tools/: how an error of the library ends a build, and where the library works."""

from __future__ import annotations

import functools
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeVar

from n6_ready import ready
from n6build.base.environment import option_values
from n6build.base.errors import N6Error
from n6build.base.files import cannot_write
from n6build.base.paths import project_path
from n6build.base.requirements import missing_package
from n6build.plan.progress import note_error
from SCons.Errors import BuildError
from SCons.Script import GetOption
from SCons.Util import Unbuffered

T = TypeVar("T")

# Switches that ask SCons about nothing but what is to be done.
_PLAIN = re.compile(r"-[Qknq]*(j[0-9]*)?|--(keep-going|jobs(=[0-9]+)?|no-exec|just-print|dry-run|recon|question)")


def in_top(method: Callable[..., T]) -> Callable[..., T]:
    """A method of environments that works in the project's folder, where the paths of steps start: SCons reads an SConscript in
    that script's own. There N6_BUILD becomes a path as steps have it; it may be given as a folder's node, or as '#name'."""

    @functools.wraps(method)
    def done(env: Any, *arguments: Any, **named: Any) -> T:
        with ready(), chdir(env.fs.Top.get_abspath()):
            build = env["N6_BUILD"]
            folder = build if hasattr(build, "get_abspath") else env.fs.Dir(build, env.fs.Top)
            env.Replace(N6_BUILD=project_path(folder.get_abspath()))
            return method(env, *arguments, **named)

    return done


def may_write() -> bool:
    """Whether this call of SCons may write files: not if it only shows what it would do, answers a question or helps."""
    return not (GetOption("no_exec") or GetOption("question") or GetOption("help"))


def is_plain() -> bool:
    """Whether SCons was called without switches that ask about its nodes or for more than a build, such as -c, --tree or
    --debug=explain. -n and -q ask what a build would do."""
    words = (word for word in sys.argv[1:] if word.startswith("-"))
    return all(map(_PLAIN.fullmatch, words)) and not option_values().get("SCONSFLAGS")


def ready_to_print(*streams: TextIO | None) -> None:
    """Names come from models and folders: a terminal that lacks a letter gets a question mark, not a traceback. streams: as the
    process was given them; None for one that was closed, for which SCons' own printing would end with a traceback. Where nobody
    reads any more, SCons goes on; it flushes by itself, and another flush would end a step."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, Unbuffered):
            stream.file = stream.file or Path(os.devnull).open("w")  # noqa: SIM115 - to the end of the process.
            stream.flush = _flushed_already


def _flushed_already() -> None:
    """In place of a flush."""


@contextmanager
def last_words() -> Iterator[None]:
    """For what is said and written after the build, when SCons catches nothing any more: nobody may be reading."""
    try:
        yield
        if sys.stdout:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"{cannot_write(None, error)}\n")
    except N6Error as error:
        sys.stderr.write(f"{error}\n")


@contextmanager
def reported(env: Any, at: str | None = None) -> Iterator[None]:
    """For work done while SConscript files are read. Prints an N6Error and ends with status 2: SCons would add its own
    position and hide the text behind it. at: file:line of what asked for the work, for errors that name no other place."""
    try:
        yield
    except N6Error as error:
        error.where = error.where or at
        if may_write():
            note_error(error, Path(env["N6_BUILD"]))
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None


@contextmanager
def failing_build(node: Any, build: Path) -> Iterator[None]:
    """For work done while nodes are built: an N6Error becomes a BuildError of `node`, and so does a package of others that is
    not installed. build: folder of all build products."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise BuildError(node=node, errstr=str(missing_package(error)), exitstatus=2) from None
    except N6Error as error:
        if may_write():
            note_error(error, build)
        raise BuildError(node=node, errstr=str(error), exitstatus=2) from None
