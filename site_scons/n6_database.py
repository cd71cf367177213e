"""The database in which SCons keeps what it has built from what, for a project that n6build alone builds; for SConsignFile().

SCons' own makes a file even for a dry run, executes what a pickle says when it reads one, and ends with a traceback for some
kinds of damage and for a full disk. Here a file carries its digest, and one without it counts as none: the ledger still knows
what is up to date. The entries in it are pickles of SCons; whoever can write to the checkout can change the SConstruct as well.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import cannot_write, write_atomically

_MAGIC = b"n6build database 1\n"
_HEAD = len(_MAGIC) + 32


class Database(dict[str, bytes]):
    """Folder -> what SCons knows of the files in it."""

    def __init__(self, path: Path, may_write: Callable[[], bool], has_news: Callable[[], bool]) -> None:
        """may_write: whether this call of SCons may write files. has_news: whether a step has been done, here or by others."""
        super().__init__()
        self._path, self._may_write, self._has_news = path, may_write, has_news
        self._is_sound = True
        try:
            self.update(_content(path.read_bytes()))
        except FileNotFoundError:
            pass
        except (OSError, ValueError):
            self._is_sound = False
            say("Forgotten", path.name, "it cannot be read: what is up to date is found out again")
        self._known = dict(self)

    def sync(self) -> None:
        """SCons calls this once, at the end of a build. Ends with status 2 where the file cannot be written."""
        if not self._may_write() or (self._is_sound and (dict(self) == self._known or not self._has_news())):
            return
        # JSON knows no bytes: each becomes the letter of its number.
        text = json.dumps({folder: entries.decode("latin-1") for folder, entries in sorted(self.items())})
        content = text.encode()
        try:
            write_atomically(self._path, _MAGIC + hashlib.sha256(content).digest() + content)
        except N6Error as error:
            sys.stderr.write(f"{error}\n")
            raise SystemExit(2) from None


class DatabaseModule:
    """What SConsignFile() takes for a module of the standard library's kind, such as dbm."""

    def __init__(self, may_write: Callable[[], bool], has_news: Callable[[], bool]) -> None:
        """may_write, has_news: as of `Database`."""
        self._may_write, self._has_news = may_write, has_news

    def open(self, name: str, *_: object) -> Database:
        """name: of the file, without its suffix. A database that is not there is made, whatever else is asked for."""
        return Database(_file(name), self._may_write, self._has_news)


def remove_database(name: str) -> None:
    """name: as for `DatabaseModule.open`. Ends with status 2 where the file cannot be removed."""
    try:
        _file(name).unlink(missing_ok=True)
    except OSError as error:
        sys.stderr.write(f"{cannot_write(_file(name), error)}\n")
        raise SystemExit(2) from None


def _file(name: str) -> Path:
    return Path(f"{name}.dblite")


def _content(data: bytes) -> dict[str, bytes]:
    """Raises ValueError for anything but a whole file."""
    if data[:_HEAD] != _MAGIC + hashlib.sha256(data[_HEAD:]).digest():
        raise ValueError("no digest of the content")
    return {folder: entries.encode("latin-1") for folder, entries in json.loads(data[_HEAD:]).items()}
