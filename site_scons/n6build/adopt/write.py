"""Writer of the lines of an adoption.

It adds lines after the user's text, never overwrites that text, and a second run changes nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Literal

from n6build.base.errors import N6Error
from n6build.base.files import cannot_write, read_bytes, write_atomically

Result = Literal["written", "replaced", "there already", "differs", "adopted by hand"]
_BEGIN = "# n6build adopt {digest}: do not edit these lines; n6build adopt updates them while they are unchanged"
_END = "# n6build adopt: end"
_BLOCK = re.compile(
    r"^# n6build adopt ([0-9a-f]{12}):[^\n]*\n(.*?)^# n6build adopt: end[ \t]*(?:\r?\n|\Z)", re.MULTILINE | re.DOTALL
)
_BY_HAND = re.compile(r"^[^#\n]*(?:n6build --makefile|find_package\(n6build\b|n6build_add_network\()", re.MULTILINE)
_CONFIGURATION = re.compile(r"<configuration\s[^<>]{0,8000}>")
_AFTER = re.compile(r'\spostbuildStep="([^"]*)"')


def block(lines: Sequence[str]) -> str:
    """Return the lines between marks.

    The first mark has the digest of the lines, which shows whether the user has changed them.
    """
    body = "".join(f"{line}\n" for line in lines)
    return f"{_BEGIN.format(digest=_digest(body))}\n{body}{_END}\n"


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:12]


def add_block(path: Path, lines: Sequence[str]) -> Result:
    """Add lines at the end of a script.

    Returns:
        The result. A block that the user has changed, and lines for n6build that the user has written,
        are left as they are.

    Raises:
        N6Error: N6-FILE-001, N6-FILE-002.
    """
    return _rewrite(path, lambda text: with_block(text, lines))


def _rewrite(path: Path, change: Callable[[str], tuple[str, Result]]) -> Result:
    """Change the text of a file, whatever its encoding, and return the result.

    Raises:
        N6Error: N6-FILE-001, N6-FILE-002.
    """
    text = read_bytes(path).decode("utf-8", "surrogateescape")
    changed, result = change(text)
    if changed != text:
        _write(path, changed.encode("utf-8", "surrogateescape"))
    return result


def with_block(text: str, lines: Sequence[str]) -> tuple[str, Result]:
    """Return the text with the block, and the result."""
    new = block(lines)
    newline = "\r\n" if "\r\n" in text else "\n"
    found = _BLOCK.search(text)
    if found:
        if found[0].replace("\r\n", "\n").rstrip("\n") == new.rstrip("\n"):
            return text, "there already"
        if _digest(found[2].replace("\r\n", "\n")) != found[1]:
            return text, "differs"
        return text[: found.start()] + new.replace("\n", newline) + text[found.end() :], "replaced"
    if _BY_HAND.search(text):
        return text, "adopted by hand"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + new.replace("\n", newline), "written"


def add_step(path: Path, command: str) -> Result:
    """Add a command after the build of each configuration of STM32CubeIDE.

    Returns:
        The result. A step of the user is left as it is.

    Raises:
        N6Error: N6-FILE-001, N6-FILE-002.
    """
    return _rewrite(path, lambda text: with_step(text, command))


def with_step(text: str, command: str) -> tuple[str, Result]:
    """Return the text of a .cproject with the command, and the result."""
    value = escape(command, quote=True)
    results: set[Result] = set()

    def add(found: re.Match[str]) -> str:
        # Other elements of this name, for resources to refresh, have no artefact.
        if "artifactName=" not in found[0]:
            return found[0]
        before = _AFTER.search(found[0])
        if before and before[1]:
            results.add("there already" if before[1] == value else "differs")
            return found[0]
        results.add("written")
        if before:
            return found[0].replace(before[0], f' postbuildStep="{value}"')
        end = "/>" if found[0].endswith("/>") else ">"
        return f'{found[0][: -len(end)]} postbuildStep="{value}"{end}'

    changed = _CONFIGURATION.sub(add, text)
    order: tuple[Result, ...] = ("differs", "written", "there already")
    return changed, next((each for each in order if each in results), "differs")


def add_links(folder: Path, links: Sequence[tuple[str, Path]]) -> None:
    """Link files under other names; existing links to the same files stay as they are.

    Raises:
        N6Error: N6-ADOPT-004 if another file of that name exists; N6-FILE-001.
    """
    for name, file in links:
        place = folder / name
        target = os.path.relpath(file, place.parent)
        if place.is_symlink() and os.readlink(place) == target:  # noqa: PTH115 - the text of the link, not resolved.
            continue
        if place.exists() or place.is_symlink():
            raise in_the_way(place, f"a link to {file.name}")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(target)
        except OSError as error:
            raise cannot_write(place, error) from error


def in_the_way(place: Path, wanted: str) -> N6Error:
    """Return N6-ADOPT-004, for a file of the user in the place of another file.

    Args:
        place: the file.
        wanted: description of the other file.
    """
    what = f"already exists: n6build adopt would write {wanted} there"
    return N6Error("N6-ADOPT-004", what, where=str(place), hint="move it away, or name another folder")


def _write(path: Path, data: bytes) -> None:
    """Write the script, which keeps its permissions."""
    try:
        mode = path.stat().st_mode & 0o7777
        write_atomically(path, data)
        path.chmod(mode)
    except OSError as error:
        raise cannot_write(path, error) from error
