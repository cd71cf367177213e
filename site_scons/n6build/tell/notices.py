"""notices.txt: the notices of every licence in the images of a flash manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from n6build.tell.linked import LinkedArchive

# The notice of a source, if it has one, is in this number of first bytes.
HEAD_BYTES = 16 << 10
_COMMENT = re.compile(r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n)+", re.DOTALL | re.MULTILINE)
_SPEAKS_OF_RIGHTS = re.compile(r"copyright|licen[sc]e|spdx|all rights reserved", re.IGNORECASE)
_RULE = "=" * 78


@dataclass(frozen=True)
class Texts:
    """The texts that notices are collected from.

    Attributes:
        ours: Licence of n6build's firmware.
        sources: Name -> beginning of each third-party source that was compiled.
        licences: Name -> content of each licence file beside them or beside the compiler.
        foreign: Names of programs that were made elsewhere.
    """

    ours: str
    sources: Mapping[str, str]
    licences: Mapping[str, str]
    foreign: Sequence[str]


def notice_of(head: str) -> str:
    """Return the comments about rights at the beginning of a source, verbatim, or ""."""
    found = [comment.strip() for comment in _COMMENT.findall(head) if _SPEAKS_OF_RIGHTS.search(comment)]
    return "\n".join(found)


def notices_text(application: str, texts: Texts, archives: Sequence[LinkedArchive]) -> str:
    """Return the text of notices.txt; `application` is its name."""
    sections = [
        f"Notices of the software in the images of {application}",
        _section("n6build: FSBL, Appli, runtime and kernels (Apache-2.0)", texts.ours),
    ]
    by_notice: dict[str, list[str]] = {}
    for name, head in sorted(texts.sources.items()):
        by_notice.setdefault(notice_of(head), []).append(name)
    for notice, names in sorted(by_notice.items(), key=lambda each: each[1]):
        sections.append(_section("\n".join(names), notice or "These files have no notice of their own."))
    for archive in archives:
        library = archive.library
        title = f"{library.name or archive.archive}: {archive.archive} ({', '.join(archive.members)})"
        licence = f"{library.expression}\n\n" if library.expression else ""
        sections.append(_section(title, licence + library.about))
    sections += [_section(name, text) for name, text in sorted(texts.licences.items())]
    if texts.foreign:
        what = "These programs were linked elsewhere. Ask their authors for the notices."
        sections.append(_section("\n".join(sorted(texts.foreign)), what))
    return "\n".join(sections)


def _section(title: str, text: str) -> str:
    body = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    return f"{_RULE}\n{title}\n{_RULE}\n\n{body}\n"
