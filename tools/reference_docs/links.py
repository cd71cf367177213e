"""Links of Markdown files into the repository, which MkDocs does not know."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from markdown.extensions.toc import slugify

# Links in code do not count: blocks with a fence or four spaces, and spans.
_CODE = re.compile(r"^(?:```.*?^```[^\n]*|(?: {4}|\t)[^\n]*)$|``[^`]+``|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[(?P<text>[^\]\n]*)\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_ID = re.compile(r'id="([^"]+)"')


def outside_code(markdown: str, change: Callable[[re.Match[str]], str]) -> str:
    """Return the text with `change` applied to every link that is not in code."""
    parts, at = [], 0
    for found in _CODE.finditer(markdown):
        # `[code](target)` has code in its text, but is no code.
        parts += [markdown[at : found.start()], found[0]]
        at = found.end()
    parts.append(markdown[at:])
    hidden = parts[1::2]
    bare = "\0".join(parts[::2])
    changed = _LINK.sub(change, bare)
    codes = iter(hidden)
    return re.sub("\0", lambda _: next(codes), changed)


def links_in(markdown: str) -> Iterator[str]:
    """Yield the relative targets of all links that are not in code."""
    found: list[str] = []

    def note(link: re.Match[str]) -> str:
        found.append(link["target"])
        return link[0]

    outside_code(markdown, note)
    return (target for target in found if not re.match(r"[a-z]+:", target))


def broken(root: Path, folder: str, target: str) -> str | None:
    """Return why a link is broken, None if it is not.

    Args:
        root: Root of the repository.
        folder: Folder of the file with the link, from `root`.
        target: Target of the link.
    """
    path, _, name = target.partition("#")
    place = posixpath.normpath(posixpath.join(folder, path))
    if place.startswith(".."):
        return f"{target} leads out of the repository"
    if not (root / place).exists():
        return f"there is no {place}"
    if name and place.endswith(".md") and name not in anchors((root / place).read_text(encoding="utf-8")):
        return f"{place} has no heading #{name}"
    return None


def anchors(markdown: str) -> set[str]:
    """Return the anchors of headings, and those that are written as HTML."""
    headings = {slugify(re.sub(r"[`*]", "", each), "-") for each in _HEADING.findall(markdown)}
    return headings | {*_ID.findall(markdown)}
