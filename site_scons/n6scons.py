"""Errors and folders of the library, shared by the SCons tools in site_tools/."""

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
from n6build.engine.progress import note_error
from SCons.Errors import BuildError
from SCons.Script import GetOption
from SCons.Util import Unbuffered

T = TypeVar("T")

# Switches with which SCons only builds, or only answers what a build would do.
_PLAIN = re.compile(r"-[Qknq]*(j[0-9]*)?|--(keep-going|jobs(=[0-9]+)?|no-exec|just-print|dry-run|recon|question)")


def in_top(method: Callable[..., T]) -> Callable[..., T]:
    """Make a method of environments work in the project's folder.

    Paths of steps start there, but SCons reads an SConscript in the folder of that script. N6_BUILD
    may be the node of a folder, or '#name'; the method gets it as a path as steps name it.
    """

    @functools.wraps(method)
    def done(env: Any, *arguments: Any, **named: Any) -> T:
        with ready(), chdir(env.fs.Top.get_abspath()):
            build = env["N6_BUILD"]
            folder = build if hasattr(build, "get_abspath") else env.fs.Dir(build, env.fs.Top)
            env.Replace(N6_BUILD=project_path(folder.get_abspath()))
            return method(env, *arguments, **named)

    return done


def may_write() -> bool:
    """Return whether this call of SCons may write files.

    It may not in a dry run, and not if it only answers a question or prints help.
    """
    return not (GetOption("no_exec") or GetOption("question") or GetOption("help"))


def is_plain() -> bool:
    """Return whether SCons was called without switches beyond those of a build.

    Switches such as -c, --tree or --debug=explain ask about nodes or for more than a build.
    Switches -n and -q count as plain: they ask about the steps of a build. Variable SCONSFLAGS has
    to be empty.
    """
    words = (word for word in sys.argv[1:] if word.startswith("-"))
    return all(map(_PLAIN.fullmatch, words)) and not option_values().get("SCONSFLAGS")


def ready_to_print(*streams: TextIO | None) -> None:
    """Prepare streams for names with any letters, and for readers that go away.

    Names come from models and folders: a terminal that lacks a letter gets a question mark instead
    of a traceback. If the reader has gone, SCons goes on. SCons flushes by itself, and a further
    flush would end a step.

    Args:
        *streams: Streams as the process got them; None for one that was closed, for which SCons'
            own printing would end with a
            traceback.
    """
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, Unbuffered):
            stream.file = stream.file or Path(os.devnull).open("w")  # noqa: SIM115 - to the end of the process.
            stream.flush = _flushed_already


def _flushed_already() -> None:
    """Do nothing, in place of a flush."""


@contextmanager
def last_words() -> Iterator[None]:
    """Report errors of output after the build, when SCons no longer catches any.

    The reader of stdout may have gone by then.
    """
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
    """Print an N6Error and end with status 2, while SConscript files are read.

    SCons would add its own position and hide the text behind it.

    Args:
        env: Environment with N6_BUILD.
        at: file:line of the script that needs the work, for errors that name no other place.
    """
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
    """Turn an N6Error into a BuildError, while nodes are built.

    A third-party package that is not installed becomes a BuildError as well.

    Args:
        node: Node that fails.
        build: Folder of all build products.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise BuildError(node=node, errstr=str(missing_package(error)), exitstatus=2) from None
    except N6Error as error:
        if may_write():
            note_error(error, build)
        raise BuildError(node=node, errstr=str(error), exitstatus=2) from None
