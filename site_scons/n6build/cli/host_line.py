"""The line of a host's build script that caused an error.

The host's build system does not pass this line on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.regular_file import content_of

_LARGEST = 1 << 20
_CALL = re.compile(r"n6build\.mk|n6build +--makefile|n6build_add_network")


def scripts_of(host: str) -> list[str]:
    """Return the files that a host names in one text, separated by spaces.

    If the text is the name of one file, it is this file.
    """
    return [host] if os.path.isfile(host) else host.split()


def in_host(error: N6Error, scripts: Iterable[str], given: Mapping[str, str]) -> N6Error:
    """Return the error with the host's line in front, if that can be found.

    Args:
        error: Error about an option of the host.
        scripts: Build scripts of the host.
        given: Value of each option by its name.
    """
    place = _place(error, scripts, given)
    if not place:
        return error
    where = f"{place}: {error.where}" if error.where else place
    return N6Error(error.id, error.what, where=where, hint=error.hint)


def _place(error: N6Error, scripts: Iterable[str], given: Mapping[str, str]) -> str:
    said = f"{error.where or ''} {error.what}"
    blamed = [name for name, value in given.items() if f"'{name}" in said or (value and value in said)]
    found = ""
    for file in scripts:
        for number, line in enumerate(_lines(Path(file)), 1):
            code = line.partition("#")[0]
            if any(_sets(name, given[name], code) for name in blamed):
                return f"{file}:{number}"
            if _CALL.search(code):
                found = found or f"{file}:{number}"
    return found


def _sets(name: str, value: str, code: str) -> bool:
    assigned = re.search(rf"\bN6_{re.escape(name.upper())}\b *[:?+!]*=", code)
    return assigned is not None or f"{name}=" in code or (bool(value) and "N6_OPTIONS" in code and value in code)


def _lines(path: Path) -> list[str]:
    try:
        if not path.is_file() or os.path.getsize(path) > _LARGEST:
            return []
        return content_of(path).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
