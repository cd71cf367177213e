"""A folder that several checkouts, and several users, share as a cache.

    notes/ab/<key>       the sets of headers that a compilation is known with
    results/ab/<key>     the digests of the files that a step has made
    files/cd/<SHA-256>   those files

Notes and results name their key, and end with the digest of the text before it.

Everything is written under another name first, and read with its digest checked, so that a build
that is killed or a damaged disk only causes a step to be done again. No user needs to own the files
of others: a damaged file is replaced by a new one, and all files and folders get the permissions of
the cache's own folder.

A file that is used is touched, and the files used longest ago are removed first if the folder has
grown too large. No process counts the writes of others: each one looks at the whole folder now and
then, the more often the more it stores.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.errors import N6Error
from n6build.base.files import read_in_chunks, sha256, write_atomically, write_chunks_atomically
from n6build.base.regular_file import content_of, open_regular
from n6build.base.uses import digest_of
from n6build.engine.perform import Site
from n6build.engine.step import Step, canonical
from n6build.engine.work import Work, depfile_for_others, depfile_from_others

_FORMAT = 2
_CHUNK = 1 << 20
_LARGEST_RESULT = 1 << 20
# Parts of the limit: on average 1/64 is written from one look at the folder to the next, and trimming leaves 1/10 free.
_LOOKS, _ROOM = 64, 10


class _GoneError(Exception):
    """An error about a file that another process has trimmed meanwhile."""


@dataclass(frozen=True)
class FolderStore:
    """A `Store` in a folder.

    Attributes:
        folder: The folder, absolute.
        mode: Permissions of the folder, which all below gets.
        limit: Bytes of all files, 0 for any number.
    """

    folder: Path
    mode: int
    limit: int = 0

    @property
    def name(self) -> str:
        """Return the name of the store, for messages."""
        return str(self.folder)

    def fetch(self, work: Work, site: Site) -> bool:
        """Write the outputs of the step, and return whether the store has all of them.

        Raises:
            N6Error: N6-CACHE-001 for a folder that cannot be read; N6-CACHE-002 for a damaged
                entry; N6-FILE-001 if an output cannot
                be written.
        """
        entry = self._result(work.key)
        try:
            if entry.stat().st_size > _LARGEST_RESULT:
                raise _damaged(entry)
            digests = _read_result(content_of(entry), work.key, _files(work.step))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _unusable(entry, error) from error
        if digests is None:
            raise _damaged(entry)
        step, files = work.step, [self._file(digest) for digest in digests]
        if not all(file.is_file() for file in files):
            return False
        try:
            for output, digest, file in zip(step.outputs, digests, files, strict=False):
                # The output is not written if the digest turns out to be wrong at the end.
                write_chunks_atomically(site.top / output, _checked(file, digest))
            if step.depfile:
                listed = b"".join(_checked(files[-1], digests[-1]))
                write_atomically(site.top / step.depfile, depfile_from_others(listed, site))
        except _GoneError:
            return False
        _touch((entry, *files))
        return True

    def keep(self, work: Work, site: Site) -> int:
        """Store the outputs of the step, and return the bytes that had to be stored.

        Raises:
            N6Error: N6-CACHE-001 if the folder cannot be written or is full.
        """
        written, digests = 0, []
        try:
            for output in work.step.outputs:
                digest = digest_of(site.top / output)
                file = self._file(digest)
                if digest_of(file) != digest:
                    written += self._write(file, read_in_chunks(site.top / output))
                else:
                    _touch([file])
                digests.append(digest)
            if work.step.depfile:
                listed = depfile_for_others(work.step, site)
                digests.append(sha256(listed))
                written += self._write(self._file(digests[-1]), [listed])
            self._write(self._result(work.key), [_entry_text(work.key, "files", digests)])
        except OSError as error:
            raise _unusable(self.folder, error) from error
        if self._is_due(work.key, written):
            self._trim()
        return written

    def read_note(self, work: Work, site: Site) -> bytes | None:  # noqa: ARG002
        """Return the note about a step without headers, None if there is none.

        Raises:
            N6Error: N6-CACHE-001 for a folder that cannot be read; N6-CACHE-002 for a damaged note.
        """
        path = self._note(work.key)
        try:
            if path.stat().st_size > _LARGEST_RESULT:
                raise _damaged(path)
            note = _read_entry(content_of(path), work.key, "note")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(path, error) from error
        if not isinstance(note, str):
            raise _damaged(path)
        _touch([path])
        return note.encode()

    def keep_note(self, work: Work, site: Site, note: bytes) -> int:  # noqa: ARG002
        """Replace the note about a step without headers, and return its size in bytes.

        Raises:
            N6Error: N6-CACHE-001 if the folder cannot be written or is full.
        """
        try:
            return self._write(self._note(work.key), [_entry_text(work.key, "note", note.decode())])
        except OSError as error:
            raise _unusable(self.folder, error) from error

    def _is_due(self, key: str, written: int) -> bool:
        """Return whether to look at the whole folder after this write.

        Keys are as good as random numbers: on average one look follows a fixed number of stored
        bytes, whichever process stores them.
        """
        return int(key[:8], 16) * self.limit < (written * _LOOKS) << 32 if self.limit else False

    def _trim(self) -> None:
        """Remove the files that were used longest ago, if all are too large together.

        Two processes that do it at once remove the same files. A file that may not be removed
        stays.
        """
        entries = sorted(self._entries())
        size_of_all = sum(size for _, size, _ in entries)
        if size_of_all <= self.limit:
            return
        too_much = size_of_all - (self.limit - self.limit // _ROOM)
        for _, size, path in entries:
            if too_much <= 0:
                break
            with suppress(OSError):
                # A file that another process has removed makes room, too.
                Path(path).unlink(missing_ok=True)
                too_much -= size

    def _entries(self) -> Iterator[tuple[int, int, str]]:
        """Yield time of the last use in ns, bytes, and path of each file."""
        for folder in (each for kind in ("notes", "results", "files") for each in self.folder.glob(f"{kind}/??")):
            with suppress(OSError), os.scandir(folder) as found:
                for each in found:
                    with suppress(OSError):
                        state = each.stat(follow_symlinks=False)
                        yield state.st_mtime_ns, state.st_size, each.path

    def _result(self, key: str) -> Path:
        return self.folder / "results" / key[:2] / key

    def _note(self, key: str) -> Path:
        return self.folder / "notes" / key[:2] / key

    def _file(self, digest: str) -> Path:
        return self.folder / "files" / digest[:2] / digest

    def _write(self, path: Path, chunks: Iterable[bytes]) -> int:
        """Write a file, and return its size in bytes.

        Raises:
            OSError: The file cannot be written.
        """
        self._make_folder(path.parent)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            size = 0
            with os.fdopen(handle, "wb") as file:
                for chunk in chunks:
                    size += file.write(chunk)
            # A process with a smaller limit may have trimmed it already.
            with suppress(FileNotFoundError):
                os.chmod(temporary, self.mode & 0o666)
                os.replace(temporary, path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        return size

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir()
            folder.chmod(self.mode)


def open_folder(folder: Path, limit: int = 0) -> FolderStore:
    """Return the store in a folder, which is made if there is none.

    Args:
        folder: The folder.
        limit: Bytes of all files, 0 for any number.

    Raises:
        N6Error: N6-CACHE-001 if the folder cannot be used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The mode includes the bit that gives files to the folder's group.
        return FolderStore(folder.absolute(), stat.S_IMODE(folder.stat().st_mode), limit)
    except OSError as error:
        raise _unusable(folder, error) from error


def _touch(used: Iterable[Path]) -> None:
    """Set the time of the last use, if the files may be touched.

    A file of another user stays as it is.
    """
    for path in used:
        with suppress(OSError):
            os.utime(path)


def _files(step: Step) -> int:
    return len(step.outputs) + bool(step.depfile)


def _entry_text(key: str, name: str, value: object) -> bytes:
    text = canonical({"format": _FORMAT, "key": key, name: value}).encode() + b"\n"
    return text + hashlib.sha256(text).hexdigest().encode() + b"\n"


def _read_entry(data: bytes, key: str, name: str) -> Any:
    """Return the value of a name, None if the entry is damaged or for another key."""
    text, end = data[:-65], data[-65:]
    if end != hashlib.sha256(text).hexdigest().encode() + b"\n":
        return None
    try:
        values: Any = parse_json(text)
        return values[name] if values["format"] == _FORMAT and values["key"] == key else None
    except WRONG_FIELDS:
        return None


def _read_result(data: bytes, key: str, files: int) -> list[str] | None:
    """Return the digests of the files, None if the entry is damaged."""
    digests = _read_entry(data, key, "files")
    if not isinstance(digests, list) or len(digests) != files:
        return None
    return digests if all(isinstance(each, str) and _is_digest(each) for each in digests) else None


def _is_digest(text: str) -> bool:
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


def _checked(file: Path, digest: str) -> Iterator[bytes]:
    """Yield the content of a file, and check its digest at the end.

    Raises:
        N6Error: N6-CACHE-002 if it does not match its name, or if it cannot be read.
    """
    hashed = hashlib.sha256()
    try:
        with open_regular(file) as source:
            while chunk := source.read(_CHUNK):
                hashed.update(chunk)
                yield chunk
    except FileNotFoundError as error:
        raise _GoneError from error
    except OSError as error:
        raise _damaged(file) from error
    if hashed.hexdigest() != digest:
        raise _damaged(file)


def _damaged(entry: Path) -> N6Error:
    return N6Error("N6-CACHE-002", "an entry of the cache is damaged or cannot be read", where=str(entry))


def _unusable(path: Path, error: OSError) -> N6Error:
    return N6Error("N6-CACHE-001", f"the cache cannot be used: {error.strerror}", where=str(path))
