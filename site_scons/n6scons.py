"""Shared by the SCons tools in site_tools/: how an error of the library ends a build."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from n6build.base.errors import N6Error
from n6build.plan.progress import note_error
from SCons.Errors import BuildError


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
    """For work done while nodes are built: an N6Error becomes a BuildError of `node`. build: folder of all build products."""
    try:
        yield
    except N6Error as error:
        note_error(error, build)
        raise BuildError(node=node, errstr=str(error), exitstatus=2) from None
