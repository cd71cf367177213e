"""Source of QEMU from the distribution, fetched by apt without root.

The system's settings stay unchanged. Most machines list binary packages only, so that the system's
package sources are copied to a private folder, with their type changed to source packages; apt keeps
its lists there, too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from n6build.base.environment import for_installing
from n6build.base.errors import N6Error
from n6build.base.regular_file import content_of

PACKAGE = "qemu"
_APT = Path("/etc/apt")


def fetch_source(folder: Path, release: str) -> Path:
    """Return the upstream tarball of a release of QEMU, downloaded if necessary.

    Args:
        folder: Folder for the download.
        release: Release of QEMU, such as 7.2.

    Raises:
        N6Error: N6-VB-002 without apt, or if the system's package sources lack that release; N6-VB-003
            if the source cannot be fetched.
    """
    found = _tarball(folder, release)
    if found:
        return found
    if shutil.which("apt-get") is None:
        raise N6Error(
            "N6-VB-002", "the virtual board needs apt to fetch QEMU's source", hint="use Debian, or a real board"
        )
    folder.mkdir(parents=True, exist_ok=True)
    options = _private_options(folder / "apt")
    unreachable = None
    try:
        _apt(["update"], options, folder)
    except N6Error as error:
        # Another package source may be unreachable, which does not matter here.
        unreachable = error
    try:
        version = _newest(options, folder, release)
    except N6Error:
        # apt-cache fails if it knows no source package of that name at all.
        version = None
    if version is None and unreachable:
        raise unreachable
    if version is None:
        raise N6Error(
            "N6-VB-002",
            f"the virtual board needs the source of {PACKAGE} {release}, which is not in this system's package sources",
            hint="use Debian 12 (bookworm) or 13 (trixie), or a real board",
        )
    _apt(["source", "--download-only", f"{PACKAGE}={version}"], options, folder)
    found = _tarball(folder, release)
    if not found:
        raise N6Error("N6-VB-003", f"the distribution's source of {PACKAGE} {release} has no upstream tarball")
    return found


def _tarball(folder: Path, release: str) -> Path | None:
    found = (
        path
        for path in folder.glob(f"{PACKAGE}_*.orig.tar.xz")
        if _is_of(path.name.removeprefix(f"{PACKAGE}_"), release)
    )
    return next(iter(sorted(found)), None)


def _is_of(version: str, release: str) -> bool:
    """Return true if a version belongs to a release.

    7.2.1+dfsg belongs to 7.2, 7.21 does not.
    """
    return re.match(rf"(?:\d+:)?{re.escape(release)}(?!\d)", version) is not None


def as_source_list(text: str) -> str:
    """Change `deb` to `deb-src` in a file of one-line entries."""
    return re.sub(r"^[ \t]*deb\s", "deb-src ", text, flags=re.MULTILINE)


def as_source_stanzas(text: str) -> str:
    """Change `Types: deb` to `Types: deb-src` in a file of deb822 stanzas."""
    return re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.MULTILINE)


def _private_options(folder: Path) -> list[str]:
    parts = folder / "sources"
    for path in (parts, folder / "lists" / "partial", folder / "cache" / "archives" / "partial"):
        path.mkdir(parents=True, exist_ok=True)
    one_line = [_APT / "sources.list", *sorted((_APT / "sources.list.d").glob("*.list"))]
    for index, path in enumerate(path for path in one_line if path.is_file()):
        (parts / f"{index}.list").write_text(as_source_list(content_of(path).decode("utf-8", "replace")))
    for path in sorted((_APT / "sources.list.d").glob("*.sources")):
        (parts / path.name).write_text(as_source_stanzas(content_of(path).decode("utf-8", "replace")))
    settings = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": parts,
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "",
    }
    return [item for key, value in settings.items() for item in ("-o", f"{key}={value}")]


def _newest(options: list[str], folder: Path, release: str) -> str | None:
    """Return the newest version of the release in the package sources."""
    output = _run(["apt-cache", *options, "showsrc", PACKAGE], folder)
    versions = [
        version for version in re.findall(r"^Version: (\S+)$", output, re.MULTILINE) if _is_of(version, release)
    ]
    return max(versions, key=lambda version: [int(part) for part in re.findall(r"\d+", version)], default=None)


def _apt(arguments: list[str], options: list[str], folder: Path) -> None:
    _run(["apt-get", "--quiet", *options, *arguments], folder)


def _run(command: list[str], folder: Path) -> str:
    environment = for_installing(LC_ALL="C")
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise N6Error(
            "N6-VB-003", f"{command[0]} could not fetch QEMU's source: {reason}", hint="check the network connection"
        )
    return result.stdout
