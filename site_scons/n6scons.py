"""Shared by the SCons tools in site_tools/: how an error of the library ends a build, and where the library works."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from n6_ready import ready
from n6build.base.errors import N6Error
from n6build.base.paths import project_path
from n6build.base.requirements import missing_package
from n6build.plan.progress import note_error
from SCons.Errors import BuildError

T = TypeVar("T")


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


@contextmanager
def reported(env: Any) -> Iterator[None]:
    """For work done while SConscript files are read. Prints an N6Error and ends with status 2: SCons would add its own
    position and hide the text behind it."""
    try:
        yield
    except N6Error as error:
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
        note_error(error, build)
        raise BuildError(node=node, errstr=str(error), exitstatus=2) from None
