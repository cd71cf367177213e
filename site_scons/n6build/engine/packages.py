"""Third-party distributions of this interpreter, identified by their files.

All that an import may load counts.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from n6build.base.regular_file import content_of

if TYPE_CHECKING:
    from packaging.requirements import Requirement

# Lines of a RECORD, which has a path, a hash and a size in each. These differ between environments: programs, which name the
# environment's folder, compiled modules, and how the distribution was installed.
_INSTALLED = re.compile(
    rb"^\.\./|^/|\.pyc,|\.dist-info/(?:INSTALLER|REQUESTED|RECORD|direct_url\.json|uv_cache\.json)\b"
)
# The first name of a path in a RECORD: of a package, or of a module with its suffix. The folder of a description has a dash.
_TOP = re.compile(rb"^([^\W\d]\w*)[/.\\]", re.MULTILINE)
# Distribution -> packages that it imports if they are installed, and does not require. `n6build prove` finds missing entries.
_IMPORTED_IF_THERE: Mapping[str, tuple[str, ...]] = {"msgspec": ("typing_extensions",)}
_REQUIRES = re.compile(rb"^Requires-Dist:(.*)$", re.MULTILINE)


@dataclass
class Packages:
    """Distributions that are installed.

    Attributes:
        folders: Distribution -> folder of its description, from `installed_packages`.
    """

    folders: Mapping[str, str]
    _behind: dict[str, dict[str, str]] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _providers: dict[str, list[str]] = field(default_factory=dict)

    def behind(self, top: str) -> dict[str, str]:
        """Return the digests of all distributions that an import may load, by name.

        These are the distributions that have files of this name (of a namespace such as `google`
        all of them), and all that they require here: markers are evaluated for this interpreter,
        and extras count where a requirement names them. Distributions that one of them imports only
        if they are installed count as well.

        Args:
            top: Name of a top-level package or module.
        """
        if top not in self._behind:
            if not self._providers:
                self._providers = _providers(self.folders)
            reached = self._reached(self._providers.get(top, []))
            self._behind[top] = {name: self._digest(name) for name in reached} or {top: "not installed"}
        return self._behind[top]

    def _reached(self, first: list[str]) -> list[str]:
        waiting = [(name, "") for name in first]
        reached = set(waiting)
        while waiting:
            name, extra = waiting.pop()
            optional = {(each, "") for each in _IMPORTED_IF_THERE.get(name, ())}
            waiting += optional - reached
            reached |= optional
            for requirement in _requirements(self.folders.get(name, "")):
                if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                    needed = {(_normalized(requirement.name), each) for each in ("", *requirement.extras)}
                    waiting += needed - reached
                    reached |= needed
        return sorted({name for name, _ in reached})

    def _digest(self, name: str) -> str:
        if name not in self._digests:
            self._digests[name] = _digest_of(self.folders[name]) if name in self.folders else "not installed"
        return self._digests[name]


def installed_packages() -> dict[str, str]:
    """Return the folder of each distribution's description, in the order of sys.path."""
    found: dict[str, str] = {}
    for place in reversed(sys.path):
        try:
            names = os.listdir(place or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith(".dist-info"):
                found[_normalized(name.partition("-")[0])] = f"{place}/{name}"
    return found


def record_of(folder: str) -> str:
    """Return the path of the list of files of a distribution.

    The packages of Linux distributions may have none; their description has at least the release.

    Args:
        folder: Folder of its description.
    """
    path = f"{folder}/RECORD"
    return path if os.path.isfile(path) else f"{folder}/METADATA"


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _providers(folders: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the distributions with files of each top-level package or module."""
    found: dict[str, list[str]] = {}
    for name, folder in sorted(folders.items()):
        tops = {*_TOP.findall(_content(f"{folder}/RECORD")), *_content(f"{folder}/top_level.txt").split()}
        for top in tops:
            found.setdefault(top.decode("utf-8", "replace"), []).append(name)
    return found


def _requirements(folder: str) -> Iterator[Requirement]:
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - takes longer than a null build.

    header = _content(f"{folder}/METADATA").replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    for text in _REQUIRES.findall(header):
        try:
            yield Requirement(text.decode("utf-8", "replace").strip())
        except InvalidRequirement:
            # Old distributions have other notations, and pip does not install requirements in them.
            continue


def _digest_of(folder: str) -> str:
    """Return the digest of a distribution's files, the same in every environment.

    The RECORD has their hashes; an installed file that is edited by hand goes unnoticed.
    """
    lines = _content(record_of(folder)).splitlines()
    brought = sorted(line for line in lines if line and not _INSTALLED.search(line))
    return hashlib.sha256(b"\n".join(brought)).hexdigest()


def _content(path: str) -> bytes:
    try:
        return content_of(path)
    except OSError:
        return b""
