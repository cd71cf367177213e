"""What the SCons tools in site_tools/ share: how an error ends a build."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

from n6build.base.errors import N6Error
from n6build.base.files import to_json, write_atomically


def stop_with(error: N6Error, build: str) -> NoReturn:
    """For errors found while SConscript files are read: SCons would add its own position and hide the text behind it.

    build: folder of all build products.
    """
    note_error(error, build)
    sys.stderr.write(f"{error}\n")
    raise SystemExit(2)


def note_error(error: N6Error, build: str) -> None:
    """In a file, too, since SCons' exit status is 2 whatever happened."""
    write_atomically(Path(build) / "last_error.json", to_json(error.as_dict()))
