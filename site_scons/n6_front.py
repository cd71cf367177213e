"""Records of builds that did nothing, so that the next call need not start SCons.

n6build.engine reads them. They are for projects that only n6build builds.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from n6build.engine.keep import Looked, keep, look
from n6scons import is_plain, last_words, may_write
from SCons.Node.FS import Dir, get_default_fs
from SCons.Script import BUILD_TARGETS, GetOption, Main, start_time

_MOST = 1 << 16


class _Heard:
    """A stream that keeps the beginning of the text written to it."""

    def __init__(self, stream: Any) -> None:
        self.text = ""
        self._stream = stream

    def write(self, text: str) -> None:
        if len(self.text) < _MOST:
            self.text += text
        self._stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def listen(env: Any) -> None:
    """Record the output and the files of this build until the process ends.

    Nothing is recorded for calls that clean, may not write, or have switches beyond those of a
    plain build.

    Args:
        env: Environment of the tool n6.
    """
    if not is_plain() or not may_write() or GetOption("clean"):
        return
    looked = look(sys.argv, int(start_time * 1e9))
    if looked is not None:
        heard = _Heard(sys.stdout), _Heard(sys.stderr)
        sys.stdout, sys.stderr = heard
        atexit.register(_at_the_end, env, looked, *heard)


def _at_the_end(env: Any, looked: Looked, out: _Heard, errors: _Heard) -> None:
    build = env.fs.Dir(env["N6_BUILD"], env.fs.Top)
    site = getattr(build.attributes, "n6_site", None)
    if site is None or not env["N6_FRONT"] or Main.exit_status or errors.text:
        return
    begin = "" if GetOption("no_progress") else "scons: Reading SConscript files ...\n"
    if begin + out.text == _nothing_to_do(bool(begin)):
        with last_words():
            more = [*_nodes(), *_site_folders(site.top), *_set_up(site.top)]
            keep(looked, begin + out.text, site, map(str, BUILD_TARGETS), more)


def _nothing_to_do(with_progress: bool) -> str:
    """Return the text that SCons prints if all targets are up to date."""
    lines = [f"`{target}' is up to date." for target in BUILD_TARGETS]
    if with_progress:
        before = ("Reading SConscript files ...", "done reading SConscript files.", "Building targets ...")
        lines = [*before, *lines, "done building targets."]
    return "".join(f"scons: {line}\n" for line in lines)


def _nodes() -> Iterator[str]:
    """Yield the path of every file that SCons may have looked for."""
    for root in get_default_fs().Root.values():
        for node in root._lookupDict.values():
            if node is not root and (not isinstance(node, Dir) or node.exists()):
                yield node.get_abspath()


def _site_folders(top: Path) -> Iterator[str]:
    """Yield the places of SCons code: of the project, the user and the system."""
    for folder in (top, Path.home() / ".scons", Path("/usr/share/scons")):
        yield from (str(folder / "site_scons" / name) for name in ("", "site_init.py", "site_tools"))


def _set_up(top: Path) -> Iterator[str]:
    """Yield the files that `make` checks before it starts SCons.

    If none of them is new, there is nothing to install.
    """
    names = ("Makefile", "pyproject.toml", "tools/setup.py", "tools/packaging/n6build.sh", ".venv/n6build.ready")
    yield from (str(top / name) for name in names)
    yield from map(str, (top / "requirements").glob("*.lock"))
